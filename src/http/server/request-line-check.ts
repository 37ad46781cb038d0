/** Checks a request that no client sends, for questions about requests. */

import type { Refusal } from '../../model/errors.ts'
import { MalformedRequest } from '../wire/malformed-request.ts'
import { requestGrammar } from '../wire/request-parser.ts'
import { refusalOf } from './connection-refusal.ts'
import { validateHost, validateMethod, type ValidationLimits } from './request-validation.ts'

export interface AskedRequestLine {
  readonly method: string
  /** As on the wire: one character a byte. */
  readonly target: string
  /** Null: the request names none. */
  readonly host: string | null
}

/** Checks the request line and the host as the listener does, without a connection. Null: accepted. */
export function refusalOfRequestLine(
  { method, target, host }: AskedRequestLine,
  { headerBytes, methods }: Pick<ValidationLimits, 'methods'> & { readonly headerBytes: number },
): Refusal | null {
  const head = `${method} ${target} HTTP/1.1\r\nHost: gateway\r\n`
  const grammar = requestGrammar(headerBytes)
  try {
    if (head.length > headerBytes) throw grammar.tooLong('head', head)
    const fault = grammar.checkPrefix(head, 0)
    if (fault !== null) throw fault
    const bytes = Buffer.from(head, 'latin1')
    const source = { text: head, bytes, offset: 0, start: 0, end: head.length }
    return validateMethod(grammar.readHead(source, false).method, { methods }) ?? validateHost(host)
  } catch (fault) {
    if (fault instanceof MalformedRequest) return refusalOf(fault)
    throw fault
  }
}
