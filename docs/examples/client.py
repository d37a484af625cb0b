"""Screen a folder of texts and judge one pair of a round: client.py URL COLLECTION FOLDER ROUND

The standard library is enough. $ADMIN_KEY and $ANNOTATOR_KEY are keys from POST /api/v1/tokens; the collection is there.
"""

import json
import os
import pathlib
import sys
import time
import urllib.request
import uuid

url, collection, folder, round_id = sys.argv[1:]


def call(who, method, path, body=None):
    headers = {"Authorization": f"Bearer {os.environ[who]}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"{url}/api/v1/{path}", data, headers, method=method)
    return json.loads(urllib.request.urlopen(request).read() or "null")


def finished(path):
    while (row := call("ADMIN_KEY", "GET", path))["state"] in ("queued", "running"):
        time.sleep(1)
    return row


files = sorted(pathlib.Path(folder).glob("*.txt"))
texts = {"documents": [{"doc_id": f.name, "raw": f.read_text("utf-8")} for f in files]}
upload = call("ADMIN_KEY", "POST", f"collections/{collection}/documents", texts)
finished(f"imports/{upload['id']}")
run = finished(f"runs/{call('ADMIN_KEY', 'POST', 'runs', {'collection': collection})['id']}")
for pair in call("ADMIN_KEY", "GET", f"runs/{run['id']}/candidates")["candidates"]:
    print(pair["rank"], pair["left"], pair["right"], pair["jaccard"], pair["suggestion"])
if seat := call("ANNOTATOR_KEY", "POST", f"rounds/{round_id}/claim"):
    answer = {"id": str(uuid.uuid4()), "slot": seat["slot"], "label": "copy"}
    print("judged:", call("ANNOTATOR_KEY", "POST", f"items/{seat['item']}/judgments", answer)["status"])
