/** How the value of a field is encoded (Protocol Buffers, "Encoding", Message Structure). */

export const VARINT = 0
export const FIXED64 = 1
/** Strings, bytes, messages and packed repeated numbers. */
export const LENGTH_DELIMITED = 2
export const FIXED32 = 5

/** The largest number of a field. */
export const MAX_FIELD_NUMBER = 2 ** 29 - 1
