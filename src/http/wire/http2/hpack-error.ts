/** The fault of a field block that cannot be decoded (RFC 7541). */

/**
 * A connection error of type COMPRESSION_ERROR (RFC 9113, section 4.3): the state of the decoder is lost. The message
 * holds nothing of the block.
 */
export class HpackError extends Error {}
