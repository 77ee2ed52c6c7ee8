/** In place of rows where a database did not answer: an empty list would be taken for the truth. */
export const NOT_ANSWERED = 'unknown: a database did not answer'
