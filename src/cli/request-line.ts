/** What the gateway says to a method and a target before it looks anything up: the readers of the wire, asked without one. */

import type { Limits } from '../config/config.ts'
import type { Refusal } from '../errors.ts'
import { RequestFault } from '../http1/request-fault.ts'
import { requestGrammar } from '../http1/requests.ts'
import { guardMethod } from '../server/guard.ts'
import { refusalOf } from '../server/unreadable.ts'

/** Null when it may go on. @param target as typed: what is not ASCII would be sent as UTF-8 */
export function refusalOfLine(method: string, target: string, { headerBytes }: Limits): Refusal | null {
  const sent = Buffer.from(target, 'utf8').toString('latin1')
  const head = `${method} ${sent} HTTP/1.1\r\nHost: gateway\r\n`
  const grammar = requestGrammar(headerBytes)
  try {
    if (head.length > headerBytes) throw grammar.tooLong('head', head)
    const fault = grammar.faultIn(head, 0)
    if (fault !== null) throw fault
    return guardMethod(grammar.readHead(head, false, undefined).method)
  } catch (fault) {
    if (fault instanceof RequestFault) return refusalOf(fault)
    throw fault
  }
}
