// What a caller may do. A viewer reads the public API, a writer changes what it lets be changed, an operator may use the
// routes for operators as well. Each may do what those before it may.

export const ROLES = ['none', 'viewer', 'writer', 'operator'] as const
export type Role = (typeof ROLES)[number]

export function isAtLeast(role: Role, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted)
}

export function lesserOf(left: Role, right: Role): Role {
  return isAtLeast(left, right) ? right : left
}

/** How far the console goes: read-only makes a viewer of every session, off has no sessions. */
export const CONSOLE_MODES = ['on', 'read-only', 'off'] as const
export type ConsoleMode = (typeof CONSOLE_MODES)[number]
