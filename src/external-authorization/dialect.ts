/** A dialect: how a kind of proxies describes a request over HTTP. Each dialect reads only its own fields. */

import type { UpstreamConfig } from '../config/config.ts'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { fieldName } from '../http/wire/field-name.ts'
import { MalformedRequest } from '../http/wire/malformed-request.ts'
import { checkedMethod, checkTarget } from '../http/wire/request-parser.ts'
import { Refusal } from '../model/errors.ts'
import type { RequestParts } from './original-request.ts'

export interface Dialect {
  /** The name in the log. */
  readonly name: string
  /** The path, as in `Endpoint`. */
  readonly path: string
  /** The fields of {@link READ} that it reads: each is required once. */
  readonly own: readonly string[]
  /**
   * Throws a {@link Refusal}.
   *
   * @param values those of `own`, in its order; none is empty
   */
  read(values: readonly string[], question: ClientRequest): RequestParts
  /** Further fields of the answer that allows a request; null: none. */
  readonly more: MoreFields | null
  /** Whether the question only requests the response to a request that was refused before. */
  readonly refusesOnly?: boolean
  /**
   * Whether the proxy passes the first Set-Cookie on, or joins several into one that no browser reads
   * correctly.
   */
  readonly oneCookie?: boolean
}

/** Further fields of the answer that allows a request: name, value, … */
export type MoreFields = (
  question: ClientRequest,
  exchange: Exchange,
  upstream: UpstreamConfig | null,
) => readonly string[]

/**
 * The fields that name the method or the target in some dialect: in a question of another dialect they are a
 * contradiction.
 */
export const DESCRIBING: readonly string[] = [
  'x-original-method',
  'x-original-url',
  'x-original-uri',
  'x-forwarded-method',
  'x-forwarded-uri',
]
const READ = [...DESCRIBING, 'x-forwarded-proto', 'x-forwarded-host']
const BY_HASH = new Map(READ.map(fieldName).map((name) => [name.hash, name]))
const contradictions: ReadonlySet<string> = new Set(DESCRIBING)

export const malformed = (detail: string): Refusal => new Refusal('request_malformed', detail)

/** The request that the question describes, or why there is none. */
export function describedBy(question: ClientRequest, dialect: Dialect): RequestParts | Refusal {
  try {
    if (question.hosts > 1) throw malformed('The question has more than one Host field.')
    const described = dialect.read(ownValues(question, dialect), question)
    checkTarget(described.method, described.target)
    return { ...described, method: checkedMethod(described.method) }
  } catch (fault) {
    if (fault instanceof Refusal) return fault
    if (fault instanceof MalformedRequest) return malformed(fault.message)
    throw fault
  }
}

/**
 * Throws a {@link Refusal}. Another spelling is refused too: a program may read `X_Original_URI` as the same
 * field.
 */
function ownValues({ section: { fields } }: ClientRequest, { own, path }: Dialect): string[] {
  const values: (string | null)[] = own.map(() => null)
  for (let i = 0; i < fields.count; i++) {
    const name = BY_HASH.get(fields.hash(i))
    if (name === undefined || !fields.isSpelling(i, name)) continue
    const { folded } = name
    const at = own.indexOf(folded)
    if (at < 0 && contradictions.has(folded))
      throw malformed(`A question to ${path} must not have ${folded}.`)
    if (at < 0) continue
    if (fields.isOdd(i)) throw malformed(`The question has another spelling of ${folded}.`)
    if (values[at] !== null) throw malformed(`The question has more than one ${folded}.`)
    values[at] = fields.value(i)
  }
  return values.map((value, at) => {
    if (value === null || value === '') throw malformed(`The question has no ${own[at]}.`)
    return value
  })
}
