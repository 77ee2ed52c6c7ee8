// Going through the words of a tag: looking at the current one, taking it, complaining about it.

import { templateError } from './templateError.js'
import type { Token } from './tokens.js'

export class TokenCursor {
  protected index = 0

  constructor(
    private readonly text: string,
    protected readonly tokens: readonly Token[],
  ) {}

  get current(): Token {
    return this.tokens[this.index] as Token
  }

  fail(why: string, at = this.current.at): never {
    throw templateError(why, this.text, at)
  }

  isWord(word: string): boolean {
    return this.current.kind === 'name' && this.current.text === word
  }

  isOperator(operator: string): boolean {
    return this.current.kind === 'operator' && this.current.text === operator
  }

  skipWord(word: string): boolean {
    const found = this.isWord(word)
    if (found) this.index++
    return found
  }

  skipOperator(operator: string): boolean {
    const found = this.isOperator(operator)
    if (found) this.index++
    return found
  }

  expectOperator(operator: string): void {
    if (!this.skipOperator(operator)) this.unexpected(operator)
  }

  expectWord(word: string): void {
    if (!this.skipWord(word)) this.unexpected(word)
  }

  expectEnd(): void {
    if (this.current.kind !== 'end') this.unexpected('the end of the expression')
  }

  protected unexpected(wanted: string): never {
    const { kind, text, at } = this.current
    const found = kind === 'end' ? 'the end' : kind === 'literal' ? 'a value' : JSON.stringify(text)
    return this.fail(`expected ${wanted}, found ${found}`, at)
  }
}
