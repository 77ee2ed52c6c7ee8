// Names that come again and again, as numbers. 0 is no name.

export class NameList {
  readonly names: string[] = ['']
  private readonly numbers = new Map<string, number>()

  numberOf(name: string | null): number {
    if (name === null || name === '') return 0
    let number = this.numbers.get(name)
    if (number === undefined) {
      number = this.names.length
      this.names.push(name)
      this.numbers.set(name, number)
    }
    return number
  }
}
