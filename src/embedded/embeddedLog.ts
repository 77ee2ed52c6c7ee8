// How this folder reports what it does. The caller decides where the lines go; nothing here prints, and
// no field ever holds a password or a token.

export type EmbeddedLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  fields?: Record<string, unknown>,
) => void
