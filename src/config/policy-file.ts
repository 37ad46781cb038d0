/** Reads policy tests. */

import { errors } from '../model/errors.ts'
import type { Place } from '../model/route.ts'
import { tableHost } from './addresses.ts'
import type { Document } from './positioned-document.ts'
import { ConfigError, sortFaults } from './faults.ts'
import { didYouMean, InvalidValue, type ValueParser } from './invalid-value.ts'
import { openDocument } from './open-document.ts'
import { readSource } from './read-file.ts'
import { seatsOf, tenantId } from './seats-file.ts'
import type { Section } from './section.ts'

/** A method, or `ANY`, and a pattern of paths. */
export interface RequestPattern {
  readonly method: string
  readonly path: string
  /** As of a table; none: every host. */
  readonly hosts: readonly string[]
}

export type PolicyCase = ReturnType<typeof caseOf>

/** `host`: canonical, perhaps with `*.` for one label; null: every host. */
export type PolicyAssertion = { readonly place: Place; readonly host: string | null } & (
  | { readonly kind: 'only'; readonly seats: readonly string[]; readonly may: RequestPattern }
  | { readonly kind: 'public'; readonly patterns: readonly RequestPattern[] }
)

export type PolicyFile = Awaited<ReturnType<typeof readPolicyFile>>

/** @throws ConfigError with every fault of the file */
export async function readPolicyFile(file: string, env: NodeJS.ProcessEnv) {
  const { document, root } = openDocument(file, await readSource(file), 'policy', env)
  const policy = {
    file,
    tenant: root.text('tenant', tenantId) ?? '',
    tenantPlace: root.source('tenant').place,
    /** Null: those of the store. */
    seats: root.has('seats') ? seatsOf(root.section('seats')) : null,
    cases: root.sections('cases').map(caseOf),
    assertions: root.sections('assert').flatMap((each) => assertionOf(each, document)),
  }
  if (document.faults.length > 0) throw new ConfigError(sortFaults(document.faults))
  return policy
}

function caseOf({ section, place }: { section: Section; place: Place }) {
  const { method, path: target } = section.text('request', requestLine) ?? NO_REQUEST
  return {
    place,
    method,
    target,
    /** As a request has it, with or without a port; null: it has none. */
    host: section.text('host', (host) => host) ?? null,
    /** Names; null: the request has no credential. */
    seats: section.has('seats') ? section.texts('seats', (name) => name) : null,
    space: section.text('space', (space) => space) ?? null,
    /** `allow`, or the code of a refusal. */
    expect: section.text('expect', answerCode) ?? '',
  }
}

const NO_REQUEST: RequestPattern = { method: '', path: '', hosts: [] }

function assertionOf(
  { section, place }: { section: Section; place: Place },
  document: Document,
): PolicyAssertion[] {
  const [only, may, isPublic] = ['only', 'may', 'public'].map((key) => section.has(key))
  if (isPublic === true ? only === true || may === true : only !== true || may !== true) {
    document.faults.push({ place, message: 'an assertion has either only with may, or public' })
    return []
  }
  const host = section.text('host', tableHost) ?? null
  if (isPublic === true)
    return [{ place, host, kind: 'public', patterns: section.texts('public', requestPattern) }]
  const seats = section.texts('only', (name) => name)
  return [{ place, host, kind: 'only', seats, may: section.text('may', requestPattern) ?? NO_REQUEST }]
}

const requestLine: ValueParser<Pick<RequestPattern, 'method' | 'path'>> = (text) => {
  const [, method, path] = /^(\S+) (\/\S*)$/.exec(text) ?? []
  if (method !== undefined && path !== undefined) return { method, path }
  return new InvalidValue('is not "METHOD /path" with exactly one space')
}

/** As `routes` and `diff` print it, with hosts. A final `**` is a `*`, as in a route table; any other `*` stands for one segment. */
const requestPattern: ValueParser<RequestPattern> = (text) => {
  const [, method = '', listed = '', path = ''] = /^(\S+) +(?:([^\s/]+) *)?(\/\S*)$/.exec(text) ?? []
  if (path === '') return new InvalidValue('is not "METHOD /path", or "METHOD HOST,HOST/path"')
  const hosts: string[] = []
  for (const each of listed === '' ? [] : listed.split(',')) {
    const host = tableHost(each)
    if (host instanceof InvalidValue)
      return new InvalidValue(`names the host "${each}", which ${host.message}`)
    hosts.push(host)
  }
  const segments = path.split('/')
  const last = segments.length - 1
  if (segments.slice(0, last).includes('**'))
    return new InvalidValue('has a ** that is not the last segment: a * stands for one segment')
  const named = segments.map((each, index) => {
    if (index === last) return each === '**' ? '*' : each
    return each === '*' ? `{segment-${index}}` : each
  })
  return { method, path: named.join('/'), hosts }
}

const CODES = ['allow', ...Object.keys(errors)]

/** `allow`, or the code of a refusal. */
export const answerCode: ValueParser<string> = (text) =>
  CODES.includes(text)
    ? text
    : new InvalidValue(`is not allow or the code of a refusal${didYouMean(text, CODES)}`)
