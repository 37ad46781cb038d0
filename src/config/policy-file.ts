/** Reads policy tests. */

import { errors } from '../model/errors.ts'
import type { Place } from '../model/route.ts'
import { tableHost } from './addresses.ts'
import { ConfigError, sortFaults } from './faults.ts'
import { didYouMean, InvalidValue } from './invalid-value.ts'
import { openDocument } from './open-document.ts'
import { readSource } from './read-file.ts'
import { permission, tenantId } from './seats-file.ts'
import type { Section } from './section.ts'
import {
  asWritten,
  file,
  list,
  listOf,
  map,
  mapOf,
  optional,
  required,
  text,
  type ValuesOf,
} from './setting.ts'
import { spaceId } from './space-settings.ts'

/** A method, or `ANY`, and a pattern of paths. */
export interface RequestPattern {
  readonly method: string
  readonly path: string
  /** The hosts in the form that tables have; an empty list: every host. */
  readonly hosts: readonly string[]
}

const NO_REQUEST: RequestPattern = { method: '', path: '', hosts: [] }

const seat = map('What the holders of the Seat may do, and where.', {
  spaces: required(list('Ids of spaces.', spaceId, { minItems: 1, examples: [['main']] })),
  permissions: required(
    list('Permissions, resource:operation, or * for all.', permission, { examples: [['trainings:list']] }),
  ),
})

const policyCase = map(
  'One request.',
  {
    request: required(
      text('METHOD and target.', requestLine, {
        placeholder: NO_REQUEST,
        examples: ['DELETE /v1/trainings/7'],
      }),
    ),
    host: text('The value of the Host header. Without this key, the request has none.', asWritten, {
      examples: ['api.example.com'],
    }),
    seats: optional(
      list("Names of the caller's Seats. Without this key, the request has no credential.", asWritten, {
        examples: [['Viewer']],
      }),
    ),
    space: text(
      'The value of the Space header, or of the header that the route reads its space from. Without this key, the request has none.',
      asWritten,
      { examples: ['main'] },
    ),
    expect: required(
      text('allow, or the code of a refusal.', answerCode, {
        placeholder: '',
        examples: ['permission_denied'],
      }),
    ),
  },
  ({ request, ...values }, { place }) => ({ place, method: request.method, target: request.path, ...values }),
)

export type PolicyCase = ReturnType<typeof policyCase.of>

const assertionFields = {
  host: text(
    'The host that the assertion applies to; *.example.com stands for one label. Without this key, it applies to every host.',
    tableHost,
    { examples: ['api.example.com'] },
  ),
  only: optional(
    list(
      'Names of Seats. No other Seat, and no caller without a Seat, gets an answer from the upstream.',
      asWritten,
      { examples: [['Admin']] },
    ),
  ),
  may: text(
    'The requests that `only` applies to: METHOD, or ANY, and a path pattern, with hosts before the path where they are meant.',
    requestPattern,
    { examples: ['DELETE /v1/**', 'GET api.example.com,*.api.example.com/v1/**'] },
  ),
  public: optional(
    list(
      'METHOD, or ANY, and a path pattern, with hosts before the path where they are meant. No other request is public, except those to built-in paths.',
      requestPattern,
      { examples: [['GET /docs/*']] },
    ),
  ),
}

const assertion = map(
  'Either only with may, or public. A final * or ** matches the rest of a path; * elsewhere, and {name}, match one segment.',
  assertionFields,
  assertionOf,
)

/**
 * An assertion about all requests. `host` is canonical, perhaps with `*.` for one label; null: every host.
 */
export type PolicyAssertion = { readonly place: Place; readonly host: string | null } & (
  | { readonly kind: 'only'; readonly seats: readonly string[]; readonly may: RequestPattern }
  | { readonly kind: 'public'; readonly patterns: readonly RequestPattern[] }
)

export const policyFile = file(
  'Seatgate policy tests',
  'The answers that the route tables and Seats of a tenant must give. seatgate test checks them.',
  {
    tenant: required(
      text('Id of the tenant in gateway.config.yaml.', tenantId, { placeholder: '', examples: ['acme'] }),
    ),
    seats: optional(mapOf(seat, 'Seats by name, instead of those in the store.')),
    cases: listOf(policyCase, 'Requests, each with the answer that it must get.'),
    assert: listOf(assertion, 'Rules that must be true of every possible request.'),
  },
)

export type PolicyFile = Awaited<ReturnType<typeof readPolicyFile>>

/** @throws ConfigError with every fault of the file */
export async function readPolicyFile(path: string, env: NodeJS.ProcessEnv) {
  const { document, root } = openDocument(path, await readSource(path), policyFile.schema, env)
  const { tenant, seats, cases, assert } = policyFile.of(root)
  if (document.faults.length > 0) throw new ConfigError(sortFaults(document.faults))
  return {
    file: path,
    tenant,
    tenantPlace: root.source('tenant').place,
    /** The Seats of the file; null: those in the store. */
    seats: seats === null ? null : [...seats].map(([name, lists]) => ({ name, ...lists })),
    cases,
    assertions: assert.flatMap((each) => each ?? []),
  }
}

/** @returns null for an assertion of neither kind, which is a fault */
function assertionOf(
  { host, only, may, public: patterns }: ValuesOf<typeof assertionFields>,
  section: Section,
): PolicyAssertion | null {
  const { place } = section
  const isPublic = patterns !== null
  if (isPublic === (only !== null) || isPublic === section.has('may')) {
    section.faultAtMap('an assertion has either only with may, or public')
    return null
  }
  if (isPublic) return { place, host, kind: 'public', patterns }
  return { place, host, kind: 'only', seats: only ?? [], may: may ?? NO_REQUEST }
}

function requestLine(line: string): RequestPattern | InvalidValue {
  const [, method, path] = /^(\S+) (\/\S*)$/.exec(line) ?? []
  if (method !== undefined && path !== undefined) return { method, path, hosts: [] }
  const [, kind, name] = /^(tool|prompt|resource|method) (\S.*)$/s.exec(line) ?? []
  if (kind !== undefined && name !== undefined) return { method: kind, path: name, hosts: [] }
  return new InvalidValue('is not "METHOD /path" with exactly one space')
}

/**
 * A pattern in the form that `routes` and `diff` print, with hosts. A final `**` has the meaning of `*` in a
 * route table; any other `*` stands for one segment.
 */
function requestPattern(value: string): RequestPattern | InvalidValue {
  const [, method = '', listed = '', path = ''] = /^(\S+) +(?:([^\s/]+) *)?(\/\S*)$/.exec(value) ?? []
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
export function answerCode(code: string): string | InvalidValue {
  return CODES.includes(code)
    ? code
    : new InvalidValue(`is not allow or the code of a refusal${didYouMean(code, CODES)}`)
}
