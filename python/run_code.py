"""Runs the code of one call in a process of its own and sends back what it gives.

In: eight bytes of length and a JSON map {code, name, args, variables, execution_id, step, server_url, libs, env, cwd}.
Out: the same form, one of {"data": …}, {"printed": true} (the code gave nothing but its output) and
{"error": {type, message, unusable?, exit_code?}}. What is printed goes elsewhere, to output and errors.
"""
import ast
import asyncio
import atexit
import builtins
import datetime
import importlib
import inspect
import io
import json
import keyword
import linecache
import math
import os
import signal
import struct
import sys
import threading
import traceback
import types
import uuid

import to_json

# Imported once for all calls: what code in playbooks imports most.
import base64, collections, concurrent.futures, csv, dataclasses, decimal, enum, functools, hashlib  # noqa: E401, F401
import http.client, itertools, logging, pathlib, random, re, socket, ssl, string, subprocess  # noqa: E401, F401
import tempfile, time, typing, urllib.parse, urllib.request  # noqa: E401, F401

PRELOADED = {"json": json, "os": os, "datetime": datetime, "uuid": uuid, "math": math}
MISSING = object()


def run(data, output, errors):
    os.setsid()
    use_streams(output, errors)
    rehearse()
    status = 1
    try:
        # Here it waits for its call.
        answer = perform(json.loads(read_message(data)))
        status = answer["error"].get("exit_code", 1) if "error" in answer else 0
        text = ('{"data":%s}' % answer["data"] if "data" in answer else json.dumps(answer)).encode()
        data.sendall(struct.pack(">Q", len(text)) + text)
        data.close()
        end_as_a_program_does()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def rehearse():
    """Does once what every call does, while nobody waits: a fork pays for each page of memory when it first writes to it."""
    names = types.ModuleType("rehearsal").__dict__
    tree = ast.parse("import math\nresult = {'a': [x * 2 for x in a], 'b': math.floor(1.5)}", "<rehearsal>")
    names["a"] = json.loads('[1, 2.5, "text"]')[:2]
    run_tree(tree, "<rehearsal>", names)
    to_json.dumps(names["result"])


def use_streams(output, errors):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, wanted in ((output, 1), (errors, 2)):
        os.dup2(descriptor, wanted)
        os.close(descriptor)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)
    sys.stdout = sys.__stdout__ = text_stream(1)
    sys.stderr = sys.__stderr__ = text_stream(2)


def text_stream(descriptor):
    bytes_out = open(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(bytes_out, encoding="utf-8", errors="backslashreplace", line_buffering=True)


def read_message(data):
    (length,) = struct.unpack(">Q", read_exactly(data, 8))
    return read_exactly(data, length)


def read_exactly(data, length):
    pieces = []
    while length > 0:
        piece = data.recv(min(length, 1 << 20))
        if piece == b"":
            os._exit(71)
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def end_as_a_program_does():
    """Threads are waited for and exit functions run. The answer is already on its way."""
    threading._shutdown()
    atexit._run_exitfuncs()


def perform(request):
    name = "<%s>" % request["name"]
    call = Call(request)
    try:
        value = call.execute(name)
    except SystemExit as leave:
        if leave.code not in (None, 0):
            return {"error": exit_error(leave)}
        value = call.result()
    except BaseException as error:
        print_traceback(error, name)
        return {"error": {"type": type(error).__name__, "message": message_of(error)}}
    if value is MISSING:
        return {"printed": True}
    try:
        return {"data": to_json.dumps(value)}
    except Exception as error:
        return {"error": {"type": type(error).__name__, "message": message_of(error), "unusable": True}}


class SqlResult(dict):
    """What a step with SQL gave. Playbooks ask it for `data` as templates do, which is the result itself; it has no such key."""

    def get(self, key, default=None):
        return self[key] if key in self or key == "data" else default

    def __missing__(self, key):
        if key == "data":
            return dict(self)
        raise KeyError(key)


def with_sql_results(values):
    return {
        key: SqlResult(value) if isinstance(value, dict) and "command_0" in value and "data" not in value else value
        for key, value in values.items()
    }


class Call:
    def __init__(self, request):
        request = {**request, "args": with_sql_results(request["args"]), "variables": with_sql_results(request["variables"])}
        self.request = request
        self.args = request["args"]
        # Names that the code finds without having made them.
        self.given = {
            **PRELOADED,
            "args": self.args,
            "input_data": self.args,
            "context": request["variables"],
            "variables": request["variables"],
            "ctx": request["variables"].get("ctx", {}),
            "execution_id": request["execution_id"],
            "step": request["step"],
            "server_url": request["server_url"],
        }
        self.names = {}

    def execute(self, name):
        enter_surroundings(self.request)
        tree = ast.parse(self.request["code"], name)
        linecache.cache[name] = (len(self.request["code"]), None, self.request["code"].splitlines(True), name)
        # With a main function the code is a module whose main is called here, and not a program.
        module = types.ModuleType("__noetl__" if defines_main(tree) else "__main__")
        sys.modules[module.__name__] = module
        self.names = module.__dict__
        self.given.update(libraries(self.request["libs"]))
        self.given.update({key: value for key, value in self.args.items() if is_name(key)})
        self.names.update(self.given, __builtins__=builtins)
        returned = run_tree(tree, name, self.names)
        return self.result() if returned is None else returned

    def result(self):
        value = self.names.get("result", MISSING)
        given = self.given.get("result", MISSING)
        if value is not MISSING and value is not given:
            return value
        main = self.names.get("main")
        if inspect.isroutine(main) and main is not self.given.get("main"):
            return self.call_main(main)
        return value

    def call_main(self, main):
        """Only the parameters that it names; all arguments when it takes any."""
        parameters = inspect.signature(main).parameters.values()
        positional = []
        named = {}
        for parameter in parameters:
            if parameter.kind is parameter.VAR_KEYWORD:
                named = {**{key: value for key, value in self.args.items() if is_name(key)}, **named}
            elif parameter.kind is parameter.VAR_POSITIONAL:
                continue  # takes what is left over, whatever it is called
            elif parameter.name in self.given:
                if parameter.kind is parameter.POSITIONAL_ONLY:
                    positional.append(self.given[parameter.name])
                else:
                    named[parameter.name] = self.given[parameter.name]
        value = main(*positional, **named)
        if inspect.isawaitable(value):
            return asyncio.run(awaited(value))
        return value


async def awaited(value):
    return await value


def enter_surroundings(request):
    os.environ.clear()
    os.environ.update(request["env"])
    if request["cwd"] is not None:
        os.chdir(request["cwd"])


def is_name(key):
    return key.isidentifier() and not keyword.iskeyword(key) and not key.startswith("__")


def libraries(libs):
    """{alias: module}, {alias: {from, import}}, or a list of packages that are expected to be installed."""
    found = {}
    if isinstance(libs, list):
        for package in libs:
            try:
                found[str(package)] = importlib.import_module(str(package))
            except ImportError:
                pass  # a package is often named otherwise than its module; the code's own import will tell
        return {alias: module for alias, module in found.items() if is_name(alias)}
    for alias, library in (libs or {}).items():
        if isinstance(library, dict):
            found[alias] = getattr(importlib.import_module(library["from"]), library["import"])
        else:
            found[alias] = importlib.import_module(library or alias)
    return found


def defines_main(tree):
    return any(isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name == "main" for part in tree.body)


def run_tree(tree, name, names):
    """Answers what a return outside of every function gives."""
    finder = TopLevel()
    for part in tree.body:
        finder.visit(part)
    if not finder.returns:
        exec(compile(tree, name, "exec"), names)
        return None
    body = tree.body
    wrapper = ast.parse("def __noetl_body__():\n    pass").body[0]
    wrapper.body = ([ast.Global(names=sorted(finder.stored))] if finder.stored else []) + body
    tree.body = [wrapper]
    exec(compile(ast.fix_missing_locations(tree), name, "exec"), names)
    return names.pop("__noetl_body__")()


class TopLevel(ast.NodeVisitor):
    """Finds a return outside of functions, and the names that are bound there."""

    def __init__(self):
        self.returns = False
        self.stored = set()

    def visit_Return(self, node):
        self.returns = True
        self.generic_visit(node)

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.stored.add(node.id)

    def visit_FunctionDef(self, node):
        self.stored.add(node.name)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node):
        pass

    def visit_comprehension_scope(self, node):
        pass

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_scope

    def visit_alias(self, node):
        self.stored.add((node.asname or node.name).split(".")[0])

    def visit_ExceptHandler(self, node):
        if node.name is not None:
            self.stored.add(node.name)
        self.generic_visit(node)

    def visit_Global(self, node):
        self.stored.difference_update(node.names)

    def generic_visit(self, node):
        # Patterns of match bind plain texts.
        for field in ("name", "rest"):
            bound = getattr(node, field, None)
            if isinstance(bound, str) and type(node).__name__ in ("MatchAs", "MatchStar", "MatchMapping"):
                self.stored.add(bound)
        super().generic_visit(node)


def exit_error(leave):
    code = leave.code if isinstance(leave.code, int) else 1
    if not isinstance(leave.code, int):
        print(leave.code, file=sys.stderr)
    return {"type": "SystemExit", "message": str(leave.code), "exit_code": code & 0xFF or 1}


def message_of(error):
    try:
        return str(error)
    except Exception:
        return "(its text cannot be read)"


def print_traceback(error, name):
    """From the first line of the code on; our own frames tell its author nothing."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != name:
        trace = trace.tb_next
    try:
        traceback.print_exception(type(error), error, trace)
    except Exception:
        sys.stderr.write("%s\n" % type(error).__name__)
