// How long a process of a tool gets between being asked and being made to end.
export const TERM_GRACE_MS = 5_000
