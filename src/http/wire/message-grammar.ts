/**
 * The interface of the parser of HTTP/1.1 messages: the grammar of requests or responses, and the parts of a
 * message.
 */

import type { HeadText } from './field-table.ts'

export interface Framed {
  /** The body length in bytes, or {@link CHUNKED}, {@link UNTIL_CLOSE}, {@link INTERIM}. */
  readonly length: number
}

export const CHUNKED: number = -1
/** The body ends with the connection. */
export const UNTIL_CLOSE: number = -2
/** An interim response: no body, and another head follows. */
export const INTERIM: number = -3

/** Receives the parsed message. No calls follow an exception of the parser or `stop`. */
export interface MessageSink<Head extends Framed> {
  head(head: Head): void
  /** @param chunk a string is a whole body as latin1; a Buffer belongs to the sink */
  body(chunk: Buffer | string): void
  /** The message is complete. */
  end(trailers: readonly string[]): void
}

/** The grammar of requests or of responses. */
export interface Grammar<Head extends Framed> {
  /**
   * Throws if the head is malformed.
   *
   * @param head from the start line to the end of the last field line, CRLF included
   * @param bodiless as given to `begin`
   */
  readHead(head: HeadText, bodiless: boolean): Head
  /**
   * Detects a malformed head before all of it is received.
   *
   * @param before the number of characters that earlier calls found valid
   * @returns null if no fault is visible yet
   */
  checkPrefix(text: string, before: number): Error | null
  /** Empty lines before a head are skipped (RFC 9112, section 2.2). */
  readonly skipsEmptyLines: boolean
  /** Fields that have no meaning, or do harm, as trailers. In lower case. */
  readonly forbiddenTrailers: readonly string[]
  /**
   * Bytes up to which a body that arrives with its head is passed as a string, so that one write takes both.
   */
  readonly maxTextBody: number
  /** The read buffer is reused, so retained bytes are copied. */
  readonly sharedBuffer: boolean
  malformed(what: string): Error
  /** @param text the received part of a head */
  tooLong(what: string, text?: string): Error
}
