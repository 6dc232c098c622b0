# SPDX-License-Identifier: MIT
"""Runs as JSON, for other programs."""
import json


def json_text(runs):
    return json.dumps({"format": "pmutest86-results", "version": 1,
                       "runs": [run.as_dict() for run in runs]}, indent=1) + "\n"
