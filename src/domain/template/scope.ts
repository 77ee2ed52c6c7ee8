// Variables of a template: loop targets and `set`. Each gets a slot when the template is compiled. A loop body is a scope of
// its own that starts afresh with every item; an `if` is not.

export class Scope {
  private readonly slots = new Map<string, number>()

  constructor(
    private readonly counter: { slots: number },
    private readonly outer?: Scope,
  ) {}

  /** The slot of a variable that belongs to this scope. */
  declare(name: string): number {
    const known = this.slots.get(name)
    if (known !== undefined) return known
    const slot = this.counter.slots++
    this.slots.set(name, slot)
    return slot
  }

  inner(): Scope {
    return new Scope(this.counter, this)
  }

  /** Where a name may be found, innermost first; a slot that is not set leaves it to the next. */
  slotsOf(name: string): readonly number[] {
    const own = this.slots.get(name)
    const outer = this.outer?.slotsOf(name) ?? []
    return own === undefined ? outer : [own, ...outer]
  }

  own(): readonly number[] {
    return [...this.slots.values()]
  }
}
