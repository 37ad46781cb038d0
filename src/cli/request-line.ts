/** Checks a method and a target as the listener checks a request line, without a connection. */

import type { Config } from '../config/config.ts'
import { methodsOf } from '../config/methods.ts'
import type { Refusal } from '../model/errors.ts'
import { MalformedRequest } from '../http/wire/malformed-request.ts'
import { requestGrammar } from '../http/wire/request-parser.ts'
import { validateMethod } from '../http/server/request-validation.ts'
import { refusalOf } from '../http/server/connection-refusal.ts'

/** The typed target as the bytes on the wire: UTF-8, one character a byte. */
export function wireTarget(typed: string): string {
  return Buffer.from(typed, 'utf8').toString('latin1')
}

/** Null: accepted. @param target of {@link wireTarget} */
export function refusalOfRequestLine(method: string, target: string, config: Config): Refusal | null {
  const { headerBytes } = config.limits
  const head = `${method} ${target} HTTP/1.1\r\nHost: gateway\r\n`
  const grammar = requestGrammar(headerBytes)
  try {
    if (head.length > headerBytes) throw grammar.tooLong('head', head)
    const fault = grammar.checkPrefix(head, 0)
    if (fault !== null) throw fault
    const bytes = Buffer.from(head, 'latin1')
    const source = { text: head, bytes, offset: 0, start: 0, end: head.length }
    return validateMethod(grammar.readHead(source, false).method, { methods: methodsOf(config) })
  } catch (fault) {
    if (fault instanceof MalformedRequest) return refusalOf(fault)
    throw fault
  }
}
