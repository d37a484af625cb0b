"""Signed review tables: rows, files, signatures and their verification.

``exporting`` makes a table, ``verify`` checks one, ``signing`` keeps the key, ``signoff`` takes people's signatures.
"""
