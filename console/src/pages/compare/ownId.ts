/** Stands for the id of a run in what it carries itself: it is no difference between two of them. */
export const OWN_ID = '‹id of the run›'
