"""A worker in one file, with the standard library alone: takes commands of kind python and answers them.

It runs whatever a playbook says, with the rights of its user. See docs/workers.md.
  NOETL_URL=http://127.0.0.1:8082 POOL=shared python3 examples/worker.py
"""
import json
import os
import threading
import time
import urllib.request

URL = os.environ.get("NOETL_URL", "http://127.0.0.1:8082")
POOL = os.environ.get("POOL", "shared")
TOKEN = os.environ.get("NOETL_API_TOKEN")
WORKER = f"example-py-{os.getpid()}"


def call(path, body, timeout=40):
    headers = {"content-type": "application/json"}
    if TOKEN:
        headers["authorization"] = f"Bearer {TOKEN}"
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers, method="POST")
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer)


def run(config, args):
    """What the code left in `result`, or its error."""
    scope = dict(args)
    try:
        exec(config.get("code", ""), scope)
        return {"status": "success", "data": scope.get("result")}
    except Exception as error:
        failure = {"kind": "exception", "message": f"{type(error).__name__}: {error}"}
        return {"status": "error", "error": failure}


def beat(command, done):
    """Every few seconds, so that the lease goes on; an error means that somebody else has the command."""
    while not done.wait(5):
        try:
            call(f"/api/commands/{command['event_id']}/heartbeat", {"worker_id": WORKER})
        except Exception as error:
            print("lost", command["meta"]["command_id"], error, flush=True)
            return


def work(command):
    done = threading.Event()
    threading.Thread(target=beat, args=(command, done), daemon=True).start()
    try:
        envelope = run(command["context"]["tool_config"], command["context"].get("args") or {})
    finally:
        done.set()
    named = {"command_id": command["meta"]["command_id"], "attempt": command["meta"]["attempt"]}
    status = envelope["status"]

    def event(event_type, event_status, payload):
        return {"step": command["node_name"], "event_type": event_type, "status": event_status, "payload": {**named, **payload}}

    result = {"status": status, "context": envelope}
    events = [
        event("call.done", "COMPLETED", {"call_index": 0, "result": result}),
        event("command.completed", status, {"status": status}),
    ]
    call("/api/events/batch", {"execution_id": command["execution_id"], "worker_id": WORKER, "events": events})
    print(named["command_id"], "attempt", named["attempt"], status, flush=True)


def stay_alive():
    while True:
        time.sleep(15)
        try:
            call("/api/worker/pool/heartbeat", {"name": WORKER})
        except Exception as error:
            print(error, flush=True)


call("/api/worker/pool/register", {"name": WORKER, "labels": {"pool_name": POOL}, "capabilities": {"tools": ["python"]}})
threading.Thread(target=stay_alive, daemon=True).start()
while True:
    try:
        wanted = {"worker_id": WORKER, "pools": [POOL], "kinds": ["python"], "max": 1, "wait_seconds": 30}
        for command in call("/api/commands/claim", wanted)["commands"]:
            work(command)
    except Exception as error:
        print(error, flush=True)
        time.sleep(1)
