"""Values of Python as JSON text. Dates become ISO text, exact decimals numbers where a double holds them and text
otherwise, bytes base64, sets lists; NaN and infinity, which JSON does not have, become null. Anything else is refused."""
import base64
import dataclasses
import datetime
import decimal
import enum
import json
import math
import os
import uuid


def dumps(value):
    try:
        return json.dumps(value, default=convert, allow_nan=False)
    except (TypeError, ValueError):
        # Keys that are no text, or NaN: worth the slower way.
        return json.dumps(clean(value, "result"), allow_nan=False)


def convert(value):
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, decimal.Decimal):
        return convert_decimal(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    if isinstance(value, (set, frozenset)):
        return ordered(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (uuid.UUID, os.PathLike)):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (range, type({}.keys()), type({}.values()), type({}.items()))) or hasattr(value, "__next__"):
        return list(value)
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return value.to_dict("records")
    for name in ("tolist", "item", "_asdict", "model_dump", "to_dict"):
        if callable(getattr(value, name, None)):
            return getattr(value, name)()
    raise TypeError("a value of type %s is not JSON" % type(value).__name__)


def convert_decimal(value):
    if not value.is_finite():
        return None
    if value == value.to_integral_value() and abs(value) < 10**18:
        return int(value)
    number = float(value)
    return number if decimal.Decimal(repr(number)) == value else str(value)


def ordered(values):
    try:
        return sorted(values)
    except TypeError:
        return list(values)


def clean(value, place):
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {key_text(key): clean(item, "%s.%s" % (place, key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item, "%s[%d]" % (place, index)) for index, item in enumerate(value)]
    try:
        return clean(convert(value), place)
    except TypeError as error:
        raise TypeError("%s: %s" % (place, error)) from None


def key_text(key):
    if isinstance(key, str):
        return str(key)
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(key)
    converted = key if isinstance(key, tuple) else convert(key)
    return converted if isinstance(converted, str) else str(converted)
