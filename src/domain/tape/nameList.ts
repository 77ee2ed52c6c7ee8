// Names that come again and again, as numbers. 0 is no name.

export class NameList {
  readonly names: string[] = ['']
  private readonly numbers = new Map<string, number>()
  private last = 0

  numberOf(name: string | null): number {
    if (name === null || name === '') return 0
    // Neighbours mostly have the same.
    if (this.names[this.last] === name) return this.last
    let number = this.numbers.get(name)
    if (number === undefined) {
      number = this.names.length
      this.names.push(name)
      this.numbers.set(name, number)
    }
    this.last = number
    return number
  }
}
