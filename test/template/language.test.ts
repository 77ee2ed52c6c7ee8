// The template language: what each construct gives. Values keep their types and their digits, mistakes are template
// errors with a place, and nothing outside the context can be reached.

import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/domain/json/parse.js'
import type { JsonObject, JsonValue } from '../../src/domain/json/value.js'
import { writeJson } from '../../src/domain/json/write.js'
import { evaluateTemplate, type TemplateKind } from '../../src/domain/template/evaluate.js'
import { PlainContext } from '../../src/domain/template/plainContext.js'
import { Template } from '../../src/domain/template/template.js'
import { TemplateError } from '../../src/domain/template/templateError.js'

const CONTEXT = parseJson(`{
  "n": 3, "z": 0, "f": 2.5, "f1": 1.0, "neg": -4, "t": true, "b": false, "nul": null, "s": "hello", "sp": "  x  ",
  "big": 380600494935949312, "huge": 123456789012345678901234567890, "l": [1, 2, 3], "mixed": ["b", 1, null, true, [0]],
  "ls": ["b", "A", "c"], "o": {"a": 1, "b": {"c": "deep"}, "items": [1, 2], "constructor": "own"}, "oe": {}, "le": [],
  "rows": [{"id": 1, "name": "x", "on": true}, {"id": 2, "name": null, "on": false}, {"id": 3}], "u": "üñ€𝒳",
  "step1": {"v": 1}, "step2": [1, 2], "steps": {"step1": {"status": "ok", "data": {"v": 7}}}, "numbers": {"0": "zero"}
}`) as JsonObject

function evaluate(template: JsonValue, kind: TemplateKind = 'value'): string {
  const steps = ['step1', 'step2']
  return writeJson(evaluateTemplate({ kind, template, context: CONTEXT, steps }, Date.UTC(2026, 0, 2, 3, 4, 5, 678)))
}

function check(kind: TemplateKind, cases: readonly (readonly [template: string, json: string])[]): void {
  it.each(cases)('%s → %s', (template, json) => expect(evaluate(template, kind)).toBe(json))
}

describe('values keep their type', () => {
  check('value', [
    ['{{ f1 }}', '1.0'],
    ['{{ big }}', '380600494935949312'],
    ['{{ huge + 1 }}', '123456789012345678901234567891'],
    ['{{ huge * huge }}', '15241578753238836750495351562536198787501905199875019052100'],
    ['x{{ big }}', '"x380600494935949312"'],
    ['{{ big }}{{ n }}', '3806004949359493123'],
    ['\n {{ l }} \n', '[1,2,3]'],
    ['{{ "007" }}', '"007"'],
    ['007', '"007"'],
    ['{{ "0" }}07', '"007"'],
    ['{}', '"{}"'],
    ['[{{ n }}, {{ s | tojson }}]', '[3,"hello"]'],
    ['{{ "tr" }}ue', 'true'],
    ['N{{ "one" }}', 'null'],
    ['{{ "" }}{{ "" }}', '""'],
    ['{{ n }} ', '3'],
    ['a{{ f1 }} {{ l }} {{ o.b }} {{ nul }}|', '"a1.0 [1, 2, 3] {\\"c\\": \\"deep\\"} |"'],
    ['{{ 1e3 }}', '1000.0'],
    ['{{ 0x10 }}{{ 1_000 }}', '161000'],
    ['{{ "a" "b" }}', '"ab"'],
    ["{{ 'it\\'s \\u00fc \\n' }}", '"it\'s ü \\n"'],
    ['{{ (1, 2) }}', '[1,2]'],
    ['{{ 1, 2 }}', '[1,2]'],
    ['{{ {"a": {"b": 1}} }}', '{"a":{"b":1}}'],
    ['{{ {"a": {}}}}', '{"a":{}}'],
    ['{{ {1: 2} }}', '{"1":2}'],
  ])
})

describe('operators', () => {
  check('value', [
    ['{{ 1 + 2 * 3 }}', '7'],
    ['{{ 1 ~ 2 * 3 }}', '"16"'],
    ['{{ 4 / 2 }}', '2.0'],
    ['{{ 7 // -2 }}', '-4'],
    ['{{ 7 % -3 }}', '-2'],
    ['{{ 7.5 % 2 }}', '1.5'],
    ['{{ 2 ** 100 }}', '1267650600228229401496703205376'],
    ['{{ 2 ** -1 }}', '0.5'],
    ['{{ 2 ** 3 ** 2 }}', '64'],
    ['{{ -2 ** 2 }}', '4'],
    ['{{ -4 | abs }}', '4'],
    ['{{ - n }}', '-3'],
    ['{{ n | int + 1 }}', '4'],
    ['{{ 9007199254740991 + 1 }}', '9007199254740992'],
    ['{{ 0.1 + 0.2 }}', '0.30000000000000004'],
    ['{{ 2.5 + 2.5 }}', '5.0'],
    ['{{ t + 1 }}', '2'],
    ['{{ "a" + "b" }}', '"ab"'],
    ['{{ l + [4] }}', '[1,2,3,4]'],
    ['{{ 1 < n < 3 }}', 'false'],
    ['{{ n == 3.0 }}', 'true'],
    ['{{ "1" == 1 }}', 'false'],
    ['{{ big == 380600494935949312.0 }}', 'true'],
    ['{{ 9007199254740993 == 9007199254740992.0 }}', 'false'],
    ['{{ {"a": 1, "b": 2} == {"b": 2.0, "a": 1} }}', 'true'],
    ['{{ missing == missing2 }}', 'true'],
    ['{{ missing < 1 }}', 'false'],
    ['{{ missing != 1 }}', 'true'],
    ['{{ nul < false }}', 'true'],
    ['{{ true < 0 }}', 'true'],
    ['{{ 5 < "1" }}', 'true'],
    ['{{ "z" < [] }}', 'true'],
    ['{{ "ell" in s }}', 'true'],
    ['{{ 1 in missing }}', 'false'],
    ['{{ "a" not in o }}', 'false'],
    ['{{ not b and t }}', 'true'],
    ['{{ b or z or "x" }}', '"x"'],
    ['{{ l and s }}', '"hello"'],
    ['{{ 1 if b else 2 if b else 3 }}', '3'],
    ['{{ n + 1 is odd }}', '4'],
  ])
})

describe('paths', () => {
  check('value', [
    ['{{ o["b"].c }}', '"deep"'],
    ['{{ rows.0.id }}{{ rows[-1]["id"] }}', '13'],
    ['{{ rows.0.name.x.y }}', 'null'],
    ['{{ l[1:] }}', '[2,3]'],
    ['{{ l[::-1] }}', '[3,2,1]'],
    ['{{ l[-2:-1] }}', '[2]'],
    ['{{ s[1:3] }}', '"el"'],
    ['{{ u[3] }}', '"𝒳"'],
    ['{{ missing[:2] }}', '[]'],
    ['{{ numbers[0] }}', '"zero"'],
    ['{{ o.items }}', '[1,2]'],
    ['{{ o[missing] }}', 'null'],
    ['{{ step1.result.v }}', '1'],
    ['{{ step1["result"].v }}', '1'],
    ['{{ step2.result }}', '[1,2]'],
    ['{{ steps.step1.result.v }}', '7'],
    ['{{ steps["step1"].result.v }}', '7'],
    ['{{ o.result }}', 'null'],
  ])
})

describe('no prototype can be reached', () => {
  check('value', [
    ['{{ oe.__proto__ }}', 'null'],
    ['{{ oe.constructor }}', 'null'],
    ['{{ oe["toString"] }}', 'null'],
    ['{{ o.constructor }}', '"own"'],
    ['{{ s.length }}', 'null'],
    ['{{ l.length }}', 'null'],
    ['{{ l["length"] }}', 'null'],
    ['{{ __proto__ }}', 'null'],
    ['{{ hasOwnProperty is defined }}', 'false'],
    ['{{ {"__proto__": 1} }}', '{"__proto__":1}'],
    ['{{ {"__proto__": {"x": 1}}.x }}', 'null'],
    ['{{ rows | map(attribute="__proto__") }}', '[null,null,null]'],
    ['{{ oe | get("__proto__", 5) }}', '5'],
    ['{% set __proto__ = 5 %}{{ __proto__ }}', '5'],
  ])
})

describe('filters', () => {
  check('value', [
    ['{{ "3.7" | int }}', '3'],
    ['{{ " -12 " | int }}', '-12'],
    ['{{ "1e3" | int }}', '1000'],
    ['{{ "x" | int(7) }}', '7'],
    ['{{ "ff" | int(0, 16) }}', '255'],
    ['{{ true | int }}', '1'],
    ['{{ l | int }}', '0'],
    ['{{ "12345678901234567890" | int }}', '12345678901234567890'],
    ['{{ "abc" | float }}', '0.0'],
    ['{{ "1" | float }}', '1.0'],
    ['{{ "inf" | float(2) }}', '2'],
    ['{{ nul | string }}', '""'],
    ['{{ f1 | string }}', '"1.0"'],
    ['{{ "heLLo wORLD-x" | title }}', '"Hello World-X"'],
    ['{{ "éCOLE" | capitalize }}', '"École"'],
    ['{{ "xxaxx" | trim("x") }}', '"a"'],
    ['{{ "a.b.c" | replace(".", "-") }}', '"a-b-c"'],
    ['{{ "aaa" | replace("a", "b", 2) }}', '"bba"'],
    ['{{ "a,b,c" | split(",", 1) }}', '["a","b,c"]'],
    ['{{ " a  b " | split }}', '["a","b"]'],
    ['{{ [1, none, "x"] | join("-") }}', '"1--x"'],
    ['{{ rows | join(",", attribute="id") }}', '"1,2,3"'],
    ['{{ u | length }}', '4'],
    ['{{ o | length }}', '4'],
    ['{{ missing | length }}', '0'],
    ['{{ le | first }}', 'null'],
    ['{{ s | first }}{{ l | last }}', '"h3"'],
    ['{{ o.b | keys }}', '["c"]'],
    ['{{ o.b | values }}', '["deep"]'],
    ['{{ o.b | items }}', '[["c","deep"]]'],
    ['{{ o | get("a") }}', '1'],
    ['{{ o | get("q", "d") }}', '"d"'],
    ['{{ "" | default("d", true) }}', '"d"'],
    ['{{ z | d(9, boolean=true) }}', '9'],
    ['{{ o.b | tojson }}', '"{\\"c\\":\\"deep\\"}"'],
    ['{{ [f1, big, nul] | tojson }}', '"[1.0,380600494935949312,null]"'],
    ['{{ {"a": 1} | tojson(indent=2) }}', '"{\\n  \\"a\\": 1\\n}"'],
    ['{{ "[1.0, 2]" | fromjson }}', '[1.0,2]'],
    ['{{ "ü" | b64encode | b64decode }}', '"ü"'],
    ['{{ 2.5 | round }}', '3.0'],
    ['{{ -2.5 | round }}', '-3.0'],
    ['{{ 2.675 | round(2) }}', '2.68'],
    ['{{ 1234 | round(-2) }}', '1200'],
    ['{{ 2.1 | round(method="ceil") }}', '3.0'],
    ['{{ n | round }}', '3'],
    ['{{ l | sum }}', '6'],
    ['{{ rows | sum(attribute="id") }}', '6'],
    ['{{ l["0"] is defined }} {{ l.0 }} {{ l[0] }} {{ numbers["0"] }} {{ numbers[0] }}', '"false 1 1 zero zero"'],
    ['{{ [l, [4], []] | sum(start=[]) }}', '[1,2,3,4]'],
    ['{{ [{"x": [1]}, {"x": [2]}] | sum(attribute="x", start=[0]) }} {{ l }}', '"[0, 1, 2] [1, 2, 3]"'],
    ['{{ ls | sort }}', '["A","b","c"]'],
    ['{{ ls | sort(case_sensitive=true, reverse=true) }}', '["c","b","A"]'],
    ['{{ mixed | sort }}', '[null,true,1,"b",[0]]'],
    ['{{ rows | sort(attribute="id", reverse=true) | map(attribute="id") }}', '[3,2,1]'],
    ['{{ l | min }}{{ l | max }}', '13'],
    ['{{ le | max }}', 'null'],
    ['{{ l | reverse }}', '[3,2,1]'],
    ['{{ s | reverse }}', '"olleh"'],
    ['{{ ["a", "A", 1, 1.0, true, "1"] | unique }}', '["a",1,"1"]'],
    ['{{ "ab" | list }}', '["a","b"]'],
    ['{{ ls | map("upper") | list }}', '["B","A","C"]'],
    ['{{ ["1", "x"] | map("int", 5) }}', '[1,5]'],
    ['{{ rows | map(attribute="name", default="-") }}', '["x","-","-"]'],
    ['{{ rows | selectattr("on") | map(attribute="id") }}', '[1]'],
    ['{{ rows | selectattr("id", ">", 1) | map(attribute="id") }}', '[2,3]'],
    ['{{ rows | selectattr("name", "defined") | map(attribute="id") }}', '[1,2]'],
    ['{{ rows | rejectattr("id", "equalto", 2) | map(attribute="id") }}', '[1,3]'],
    ['{{ [1, 2, 3] | batch(2, 0) }}', '[[1,2],[3,0]]'],
    ['{{ {"b": 1, "A": 2} | dictsort }}', '[["A",2],["b",1]]'],
    ['{{ {"b": 1, "a": 2} | dictsort(by="value") }}', '[["b",1],["a",2]]'],
    [
      '{{ "%g %g %g %g %.3g %g %G" | format(1234567, 0.0001, 0.00001, 100000, 1234.5, 0, 1e20) }}',
      '"1.23457e+06 0.0001 1e-05 100000 1.23e+03 0 1E+20"',
    ],
    [
      '{{ "%#x %#o %#X %c%c %06.2f %+.1e" | format(255, 8, 255, 65, "ü", -1.5, 12345.0) }}',
      '"0xff 0o10 0XFF Aü -01.50 +1.2e+04"',
    ],
    ['{{ "%#06x|%.1f" | format(255, 1e21) }}', '"0x00ff|1000000000000000000000.0"'],
    ['{{ "%05.1f|%-4s|%d|%x|%%" | format(3.14159, "ab", 7.9, 255) }}', '"003.1|ab  |7|ff|%"'],
    ['{{ s | safe }}', '"hello"'],
  ])
})

describe('tests', () => {
  check('condition', [
    ['nul is defined and missing is undefined', 'true'],
    ['not missing is defined', 'true'],
    ['n is number and t is not number', 'true'],
    ['n is integer and f1 is float and f is not integer', 'true'],
    ['n is odd and 4 is even', 'true'],
    ['9 is divisibleby 3 and 9 is not divisibleby(2)', 'true'],
    ['o is mapping and l is sequence and s is iterable', 'true'],
    ['n is eq 3 and n is ge(3) and n is lt 4', 'true'],
    ['n is in [1, 3]', 'true'],
    ['s is startingwith "he" and s is endingwith("lo")', 'true'],
    ['"ab c" is lower and "AB" is upper', 'true'],
    ['t is true and b is false and t is boolean', 'true'],
    ['s is string and nul is none', 'true'],
  ])
})

describe('statements', () => {
  check('value', [
    ['{% if b %}1{% elif n == 3 %}2{% else %}3{% endif %}', '2'],
    ['{% for x in l if x != 2 %}{{ loop.index }}:{{ x }}{{ "" if loop.last else "," }}{% endfor %}', '"1:1,2:3"'],
    ['{% for k, v in o.b | items %}{{ k }}={{ v }}{% endfor %}', '"c=deep"'],
    ['{% for x in missing %}x{% else %}none here{% endfor %}', '"none here"'],
    ['{% set x = 1 %}{% for i in l %}{% set x = i %}{% endfor %}{{ x }}', '1'],
    ['{% if t %}{% set x = 5 %}{% endif %}{{ x }}', '5'],
    ['{% if b %}{% set n = 5 %}{% endif %}{{ n }}', '3'],
    ['{% set a, b = [1, 2] %}{{ a }}{{ b }}', '12'],
    ['{% set x %}a{{ n }}{% endset %}{{ x }}{{ x }}', '"a3a3"'],
    ['{% raw %}{{ n }}{% endraw %}', '"{{ n }}"'],
    ['a  {%- if t -%}  b  {%- endif -%}  c', '"abc"'],
    ['a {#- gone -#} b', '"ab"'],
    ['a{{ n }}\n', '"a3"'],
    ['a{{ n }}\n\n', '"a3\\n"'],
    [
      '{% for x in l %}{% for y in l %}{{ loop.index0 }}{% endfor %}{{ loop.length }},{% endfor %}',
      '"0123,0123,0123,"',
    ],
  ])
})

describe('functions', () => {
  check('value', [
    ['{{ range(3) }}', '[0,1,2]'],
    ['{{ range(5, 0, -2) }}', '[5,3,1]'],
    ['{{ now() }}', '"2026-01-02T03:04:05.678000+00:00"'],
    ['{{ now("%Y-%m-%d %H:%M:%S") }}', '"2026-01-02 03:04:05"'],
  ])
})

describe('conditions', () => {
  check('condition', [
    ['n > 2', 'true'],
    ['{{ "off" }}', 'false'],
    ['{{ " NO " }}', 'false'],
    ['{{ "0.0" }}', 'true'],
    ['{{ 0.0 }}', 'false'],
    ['yes', 'false'],
    ['missing.a > 3', 'false'],
  ])
  it('takes values that are not texts as they are', () => {
    expect([true, false, 1, 0, null, [], [1]].map((value) => evaluate(value as JsonValue, 'condition'))).toEqual([
      'true',
      'false',
      'true',
      'false',
      'false',
      'false',
      'true',
    ])
  })
})

describe('loop lists', () => {
  check('loop', [
    ['{{ o.b }}', '[{"key":"c","value":"deep"}]'],
    ['{{ neg }}', '[]'],
    ['{{ 3.0 }}', '[0,1,2]'],
    ['a, b\nc,,', '["a","b","c"]'],
    ['{{ "" }}', '[]'],
    ['[1, {{ n }}]', '[1,3]'],
  ])
  it('takes a list of the document with templates inside', () => {
    expect(evaluate(['{{ n }}', { '{{ s }}': '{{ l }}' }], 'loop')).toBe('[3,{"hello":[1,2,3]}]')
  })
  it.each(['{{ nul }}', '{{ missing }}', '{{ t }}', '{{ f }}'])('%s is not a list', (template) =>
    expect(() => evaluate(template, 'loop')).toThrow(TemplateError),
  )
})

describe('mistakes are template errors with a place', () => {
  it.each([
    ['{{ n / 0 }}', 'template error at character 6: division by zero near "/ 0 }}"'],
    ['{{ s + n }}', 'at character 6: + is not possible between text and number near "+ n }}"'],
    ['{{ s | nosuch }}', 'at character 6: there is no filter nosuch near "| nosuch }}"'],
    ['{{ s is nosuch }}', 'there is no test nosuch'],
    ['{{ nosuch(1) }}', 'there is no function nosuch'],
    ['{{ s.upper() }}', 'use a filter instead of a method'],
    ['{{ token("x") }}', 'only known where the tool runs'],
    ['{{ n', '}} is missing'],
    ['{{ (n }}', 'unexpected }'],
    ['{{ }}', 'expected a value, found the end'],
    ['{{ a b }}', 'found "b"'],
    ['{{ "x }}', 'closing quote'],
    ['{% include "x" %}', 'there is no statement "include"'],
    ['{% if t %}', '{% endif %} is missing'],
    ['{% endfor %}', 'has no place here'],
    ['{{ "a" * 3 }}', 'not possible'],
    ['{{ n | length }}', 'a number has no length'],
    ['{{ "x" | fromjson }}', 'is not valid JSON'],
    ['{{ [1] | sum(1, 2, 3) }}', 'at most 2 arguments'],
    ['{{ s | replace("a") }}', 'replace needs new'],
    ['{{ s | int(nosuch=1) }}', 'int has no argument nosuch'],
    ['{{ range(100001) }}', 'more than 100000'],
    ['{{ 2 ** 5000 }}', 'beyond 4096 bits'],
    ['{{ 1e308 * 10 }}', 'not a finite number'],
    ['{% for a, b in l %}{% endfor %}', 'need a list of 2 values'],
    ['{{ rows | map("nosuch") }}', 'there is no filter nosuch'],
    ['{{ rows | selectattr("a", "nosuch") }}', 'there is no test nosuch'],
    ['{{ now("%Q") }}', 'no directive %Q'],
  ])('%s: %s', (template, message) => {
    expect(() => evaluate(template)).toThrow(TemplateError)
    expect(() => evaluate(template)).toThrow(message)
  })
  it('an empty condition is one', () => {
    expect(() => evaluate('  ', 'condition')).toThrow('the condition is empty')
  })
})

describe('code of other languages', () => {
  const context = new PlainContext(CONTEXT, new Set(), 0)
  const LENGTH = ['$', '{#arr[@]}'].join('')
  it('keeps braces that are not ours, and says so', () => {
    const template = Template.compile(`docker ps --format "{{.ID}}" --filter {{ s }} ${LENGTH} {%x%}`, {
      isCode: true,
    })
    expect(template?.textValue(context)).toBe(`docker ps --format "{{.ID}}" --filter hello ${LENGTH} {%x%}`)
    expect(template?.warnings).toHaveLength(2)
  })
  it('never types a text again', () => {
    expect(Template.compile('{{ n }}')?.textValue(context)).toBe('3')
  })
})

describe('what a template reads', () => {
  it('is known without rendering', () => {
    const template = Template.compile(
      '{% set a = ctx.x %}{% for r in rows[n].list %}{{ r.id }}{{ a }}{% endfor %}{{ output["status"] }}{{ token("pg") }}',
    )
    expect(template?.paths).toEqual([
      { root: 'ctx', keys: ['x'], isOpen: false },
      { root: 'rows', keys: [], isOpen: true },
      { root: 'n', keys: [], isOpen: false },
      { root: 'output', keys: ['status'], isOpen: false },
    ])
    expect([...(template?.functions ?? [])]).toEqual(['token'])
  })
})
