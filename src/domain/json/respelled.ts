// The database spells some numbers in another way than they were written, and folds tell the spellings apart.
const RESPELLED_NUMBER = /(?:^|[:[,\s])(?:-0|-?\d[\d.]*[eE])/

/** JSON text that the database may spell in another way. */
export function isRespelled(text: string): boolean {
  return RESPELLED_NUMBER.test(text)
}
