/** The order of lists that ask for none. */
export const NEWEST_FIRST = "-created_at";
