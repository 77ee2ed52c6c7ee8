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
WORKER, HELD = f"example-py-{os.getpid()}", []  # what is not in HELD, because an answer was lost, goes to others


def call(path, body, timeout=40):
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {TOKEN}"} if TOKEN else {})}
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
        return {"status": "error", "error": {"kind": "exception", "message": f"{type(error).__name__}: {error}"}}


def beat(command, done, unwanted):
    """Every few seconds, so that the lease goes on. Only 409 and `cancelled` say stop: a daemon that is away comes back."""
    sign = {"worker_id": WORKER, "lease_token": command["meta"]["lease_token"]}
    while not (unwanted.is_set() or done.wait(5)):
        try:
            if call(f"/api/commands/{command['event_id']}/heartbeat", sign)["cancelled"]:
                unwanted.set()
        except Exception as error:
            print("heartbeat failed:", error, flush=True)
            if getattr(error, "code", None) == 409:
                unwanted.set()


def send(answer, unwanted):
    """Again for five minutes while the daemon is away or busy: an answer that came twice counts once."""
    pause, end = 0, time.monotonic() + 300
    while not unwanted.wait(pause):
        try:
            return call("/api/events/batch", answer)
        except Exception as error:
            code = getattr(error, "code", 503)
            if time.monotonic() > end or (code < 500 and code not in (408, 429)):
                raise
            print("answer failed, again soon:", error, flush=True)
            pause = min(30, 2 * pause + 1)


def work(command):
    done, unwanted = threading.Event(), threading.Event()
    threading.Thread(target=beat, args=(command, done, unwanted), daemon=True).start()
    named = {key: command["meta"][key] for key in ("command_id", "attempt")}
    def event(kind, outcome, **payload):
        return {"step": command["node_name"], "event_type": kind, "status": outcome, "payload": {**named, **payload}}
    try:
        envelope = run(command["context"]["tool_config"], command["context"].get("args") or {})
        status = envelope["status"]
        result = event("call.done", "COMPLETED", call_index=0, result={"status": status, "context": envelope})
        events = [result, event("command.completed", status, status=status)]
        send({"execution_id": command["execution_id"], "worker_id": WORKER, "events": events}, unwanted)
    finally:
        done.set()
    print(*named.values(), "unwanted" if unwanted.is_set() else status, flush=True)


def stay_alive():
    while True:
        time.sleep(15)
        try:
            call("/api/worker/pool/heartbeat", {"name": WORKER, "commands": HELD})
        except Exception as error:
            print(error, flush=True)


call("/api/worker/pool/register", {"name": WORKER, "labels": {"pool_name": POOL}, "capabilities": {"tools": ["python"]}})
threading.Thread(target=stay_alive, daemon=True).start()
while True:
    try:
        wanted = {"worker_id": WORKER, "pools": [POOL], "kinds": ["python"], "max": 1, "wait_seconds": 30}
        for command in call("/api/commands/claim", wanted)["commands"]:
            HELD[:] = [command["event_id"]]
            work(command)
    except Exception as error:
        print(error, flush=True)
        time.sleep(1)
