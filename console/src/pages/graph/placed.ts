// Where the parts of a graph are drawn, in pixels.
export interface Placed {
  width: number
  height: number
  /** By the order of the steps: left and top. */
  steps: readonly { x: number; y: number }[]
  /** By the order of the arcs: points of a line. */
  arcs: readonly (readonly { x: number; y: number }[])[]
}

export const STEP_WIDTH = 224
export const STEP_HEIGHT = 46

/** Indices of steps. */
export interface Wanted {
  steps: number
  arcs: readonly { from: number; to: number }[]
}
