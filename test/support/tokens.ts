// Tokens of daemons in tests: long enough to be accepted, and told apart.
export const INTERNAL_TOKEN = 'internal-token-of-the-tests'
export const INTERNAL_TOKEN_PREVIOUS = 'internal-token-before-that-one'
export const API_TOKEN = 'api-token-of-the-tests'
