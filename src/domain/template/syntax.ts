// The syntax tree of a template. Chains (a.b.c, x | f | g, a + b + c) are lists, not nests: their length is bounded by
// the template alone, and closures made from them do not recurse.

import type { JsonValue } from '../json/value.js'
import type { ArithmeticOperator } from './arithmetic.js'
import type { OrderOperator } from './compareValues.js'

export type CompareOperator = OrderOperator | '==' | '!=' | 'in' | 'not in'

export interface Arguments {
  readonly positional: readonly Expression[]
  readonly named: readonly (readonly [name: string, value: Expression])[]
}

export type Access =
  | { readonly type: 'attribute'; readonly name: string; readonly at: number }
  | { readonly type: 'index'; readonly index: Expression; readonly at: number }
  | {
      readonly type: 'slice'
      readonly start: Expression | undefined
      readonly stop: Expression | undefined
      readonly step: Expression | undefined
      readonly at: number
    }

export type Stage =
  | { readonly type: 'filter'; readonly name: string; readonly args: Arguments; readonly at: number }
  | {
      readonly type: 'test'
      readonly name: string
      readonly args: Arguments
      readonly isNegated: boolean
      readonly at: number
    }

export interface Link<Operator> {
  readonly operator: Operator
  readonly operand: Expression
  readonly at: number
}

export type ChainOperator = ArithmeticOperator | '~'

export type Expression =
  | { readonly type: 'literal'; readonly value: JsonValue }
  | { readonly type: 'name'; readonly name: string; readonly at: number }
  | { readonly type: 'list'; readonly items: readonly Expression[]; readonly at: number }
  | { readonly type: 'map'; readonly entries: readonly (readonly [Expression, Expression])[]; readonly at: number }
  | { readonly type: 'call'; readonly name: string; readonly args: Arguments; readonly at: number }
  | { readonly type: 'path'; readonly base: Expression; readonly accesses: readonly Access[] }
  | { readonly type: 'pipe'; readonly base: Expression; readonly stages: readonly Stage[] }
  | { readonly type: 'sign'; readonly operator: '-' | '+'; readonly operand: Expression; readonly at: number }
  | { readonly type: 'chain'; readonly first: Expression; readonly rest: readonly Link<ChainOperator>[] }
  | { readonly type: 'compare'; readonly first: Expression; readonly rest: readonly Link<CompareOperator>[] }
  | { readonly type: 'and' | 'or'; readonly operands: readonly Expression[] }
  | { readonly type: 'not'; readonly operand: Expression }
  | {
      readonly type: 'conditional'
      readonly test: Expression
      readonly chosen: Expression
      readonly otherwise: Expression | undefined
    }

export type Statement =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'output'; readonly expression: Expression; readonly at: number }
  | {
      readonly type: 'if'
      readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[]
      readonly otherwise: readonly Statement[]
    }
  | {
      readonly type: 'for'
      readonly targets: readonly string[]
      readonly list: Expression
      readonly filter: Expression | undefined
      readonly body: readonly Statement[]
      readonly otherwise: readonly Statement[]
      readonly at: number
    }
  | { readonly type: 'set'; readonly targets: readonly string[]; readonly value: Expression; readonly at: number }
  | { readonly type: 'capture'; readonly target: string; readonly body: readonly Statement[]; readonly at: number }

/** Whether this step of a path is that key, written out. */
export function isKey(access: Access, key: string): boolean {
  if (access.type === 'attribute') return access.name === key
  return access.type === 'index' && access.index.type === 'literal' && access.index.value === key
}
