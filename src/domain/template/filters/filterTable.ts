// Every filter by name, and how one written in a template becomes a closure. map, selectattr and rejectattr take other
// filters and tests by name; those names are checked when the template is compiled, if they are written out.

import { bindArguments, type CompileSite } from '../compileSite.js'
import type { Evaluate, Run, TemplateValue } from '../run.js'
import type { Arguments, Expression, Stage } from '../syntax.js'
import { templateError } from '../templateError.js'
import { TESTS } from '../tests.js'
import { isTrue, itemsOf, toList } from '../values.js'
import { pickAttribute } from './attributePath.js'
import type { TemplateFilter } from './filter.js'
import { LIST_FILTERS } from './listFilters.js'
import { MAP_FILTERS } from './mapFilters.js'
import { NUMBER_FILTERS } from './numberFilters.js'
import { TEXT_FILTERS } from './textFilters.js'

const FILTERS: ReadonlyMap<string, TemplateFilter> = new Map([
  ...TEXT_FILTERS,
  ...NUMBER_FILTERS,
  ...LIST_FILTERS,
  ...MAP_FILTERS,
])

type FilterStage = Extract<Stage, { type: 'filter' }>
type Apply = (value: TemplateValue, run: Run) => TemplateValue

export function bindFilter(stage: FilterStage, site: CompileSite): Apply {
  const { name, args, at } = stage
  if (name === 'map') return bindMap(args, at, site)
  if (name === 'selectattr' || name === 'rejectattr') return bindSelect(name, args, at, site)
  const filter = FILTERS.get(name)
  if (filter === undefined) throw templateError(`there is no filter ${name}`, site.text, at)
  const places =
    name === 'format'
      ? formatPlaces(args, at, site)
      : bindArguments(name, filter.params, filter.required ?? 0, args, at, site)
  if (places.length === 0) {
    return (value, run) => {
      run.at = at
      return filter.apply(value, NONE, run)
    }
  }
  return (value, run) => {
    const values = places.map((place) => place(run))
    run.at = at
    return filter.apply(value, values, run)
  }
}

const NONE: readonly TemplateValue[] = []

/** format takes as many values as the text has places. */
function formatPlaces(args: Arguments, at: number, site: CompileSite): readonly Evaluate[] {
  if (args.named.length > 0) throw templateError('format takes values without names', site.text, at)
  return args.positional.map((argument) => site.compile(argument, site))
}

function bindMap(args: Arguments, at: number, site: CompileSite): Apply {
  const attribute = args.named.find(([name]) => name === 'attribute')?.[1]
  if (attribute !== undefined) return bindMapAttribute(attribute, args, at, site)
  const [name, ...rest] = args.positional
  if (name?.type !== 'literal' || typeof name.value !== 'string') {
    throw templateError('map needs attribute="…" or the name of a filter', site.text, at)
  }
  const each = bindFilter({ type: 'filter', name: name.value, args: { positional: rest, named: args.named }, at }, site)
  return (value, run) => {
    const items = itemsOf(value, run, 'map')
    run.charge(items.length)
    return toList(items.map((item) => each(item, run)))
  }
}

function bindMapAttribute(attribute: Expression, args: Arguments, at: number, site: CompileSite): Apply {
  const other = args.named.find(([name]) => name !== 'attribute' && name !== 'default')
  if (args.positional.length > 0 || other !== undefined) {
    throw templateError('map(attribute=…) takes only default= beside it', site.text, at)
  }
  const path = site.compile(attribute, site)
  const given = args.named.find(([name]) => name === 'default')?.[1]
  const absent = given === undefined ? undefined : site.compile(given, site)
  return (value, run) => {
    const key = path(run)
    const instead = absent?.(run)
    run.at = at
    const pick = pickAttribute(key, run)
    const items = itemsOf(value, run, 'map')
    return toList(items.map((item) => pick(item) ?? instead))
  }
}

function bindSelect(name: string, args: Arguments, at: number, site: CompileSite): Apply {
  const [attribute, testName, argument, more] = args.positional
  if (attribute === undefined || more !== undefined || args.named.length > 0) {
    throw templateError(`${name} takes an attribute, the name of a test and its argument`, site.text, at)
  }
  const path = site.compile(attribute, site)
  const test = testName === undefined ? undefined : namedTest(testName, argument, at, site)
  const other = argument === undefined ? undefined : site.compile(argument, site)
  const isWanted = name === 'selectattr'
  return (value, run) => {
    const key = path(run)
    const against = other?.(run)
    run.at = at
    const pick = pickAttribute(key, run)
    return toList(
      itemsOf(value, run, name).filter((item) => {
        const found = pick(item)
        return (test === undefined ? isTrue(found) : test(found, against, run)) === isWanted
      }),
    )
  }
}

function namedTest(
  name: Expression,
  argument: Expression | undefined,
  at: number,
  site: CompileSite,
): (value: TemplateValue, argument: TemplateValue, run: Run) => boolean {
  if (name.type !== 'literal' || typeof name.value !== 'string') {
    throw templateError('the name of a test is a text', site.text, at)
  }
  const test = TESTS.get(name.value)
  if (test === undefined) throw templateError(`there is no test ${name.value}`, site.text, at)
  if ((argument === undefined ? 0 : 1) !== test.params) {
    throw templateError(`the test ${name.value} takes ${test.params} arguments`, site.text, at)
  }
  return (value, against, run) => test.ask(value, against, run)
}
