/** The parser of an upstream's responses, without a connection. For the tests of what it keeps between them. */

import { ProtocolError } from '../../src/http/client/upstream-request.ts'
import {
  MAX_HEAD_BYTES,
  type ParsedResponseHead,
  responseGrammar,
} from '../../src/http/client/response-parser.ts'
import { MessageParser } from '../../src/http/wire/message-parser.ts'
import type { MessageSink } from '../../src/http/wire/message-grammar.ts'

type Read = Omit<ParsedResponseHead, 'fields'> & { fields: readonly string[] }

/** The header sections of responses, in sequence on one connection. */
export class Reading implements MessageSink<ParsedResponseHead> {
  readonly #reader = new MessageParser(responseGrammar, MAX_HEAD_BYTES, this)
  #last: ParsedResponseHead | null = null

  head(head: ParsedResponseHead): void {
    this.#last = head
  }

  body(): void {}

  end(): void {}

  /**
   * The content of a header section, or its error in words; retains nothing of it.
   *
   * @param bodiless it is the response to HEAD
   */
  read(text: string, bodiless = true): Read | string {
    this.#reader.begin(bodiless)
    const bytes = Buffer.from(text, 'latin1')
    try {
      this.#reader.read(bytes, 0, bytes.length)
    } catch (error) {
      if (error instanceof ProtocolError) return error.message
      throw error
    }
    const head = this.#last
    this.#last = null
    if (head === null) return 'not whole'
    const { fields, ...rest } = head
    return { ...rest, fields: [...fields.pairs, fields.lines(0, fields.count)] }
  }
}
