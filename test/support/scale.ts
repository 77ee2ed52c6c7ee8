// The size of a test that shows the same at any size: small in `make test`, large in `make test-long`.
export const IS_LONG = process.env['TEST_LONG'] === '1'

export function scaled(short: number, long: number): number {
  return IS_LONG ? long : short
}
