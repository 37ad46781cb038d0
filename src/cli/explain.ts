/** `seatgate explain`: the decision on a request and its reason, by the decision engine of the gateway. */

import type { Store } from '../../seats-admin/index.ts'
import { methodAndPath, requestOfQuestion } from '../access/mcp-questions.ts'
import { extensions } from '../composition.ts'
import type { Config } from '../config/config.ts'
import { methodsOf } from '../config/methods.ts'
import { answerCode } from '../config/policy-file.ts'
import { type SignedIdentityOf, signedIdentityOf } from '../decision/decision-record.ts'
import { unreadableEvaluation } from '../decision/draft.ts'
import { refusalOfRequestLine } from '../http/server/request-validation.ts'
import { type Credentials, NO_CREDENTIALS } from '../model/authorization-request.ts'
import type { Decision } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import { LEFT_OUT } from '../model/left-out-groups.ts'
import { leavesOutGroups } from '../oidc/tokens/token-without-groups.ts'
import { ProcessEphemeral } from '../oidc/sign-in/completed-sign-ins.ts'
import { DecisionPoint } from '../runtime/decision-point.ts'
import {
  CONFIG,
  type Arguments,
  HOST,
  HOST_IS_MISSING,
  JSON_OUTPUT,
  METHODS,
  parsedOption,
  TENANT,
  UsageError,
  versionNumber,
} from './arguments.ts'
import { CommandFailed, defineCommand, tenantOf, type Terminal } from './command.ts'
import { loadDecidingTables } from './deciding-tables.ts'
import { formatDecision, recordAsJson } from './decision-text.ts'
import { withStoreOrEmpty } from './existing-store.ts'
import { REMOTE, withGateway } from './remote/gateway-options.ts'
import { decideAgain } from './replay/decide-again.ts'
import { mintForSeats } from './token.ts'

const options = {
  host: HOST,
  space: {
    value: 'S',
    description: 'the value of the Space header, or of the header that the route reads its space from',
  },
  token: { value: 'T', description: 'a bearer token' },
  'api-key': {
    value: 'K',
    description:
      'an API key; with --url, that which asks the gateway, or - to read it from standard input; by default, the value of SEATGATE_API_KEY',
  },
  tenant: {
    ...TENANT,
    description:
      'the tenant of a caller who holds the Seats given with --seat, or no Seats; with --seat, it may be omitted if there is only one tenant',
  },
  seat: { value: 'NAME', description: 'names of Seats', multiple: true },
  expect: { value: 'CODE', description: 'the expected answer: allow, or the code of a refusal' },
  from: {
    value: 'LOG',
    description:
      'decides the request with the given id in this log again; the caller holds the Seats that the log line lists, as they are now',
    completes: 'file',
  },
  tables: {
    value: 'VERSION',
    description: 'decides by this version of the route tables in the store; by default, by the active one',
  },
  config: CONFIG,
  // These options require --url, or have another meaning with it.
  url: { ...REMOTE.url, description: 'asks the gateway at this address instead of reading the store' },
  user: {
    value: 'SUB',
    description:
      'with --url: the sub of a user, or an email address that one user has; the user holds the Seats of the latest sign-in',
  },
  'api-key-id': { value: 'ID', description: 'with --url: the id of the API key that makes the request' },
  in: {
    value: 'S',
    description: 'with --url: the space to ask in; by default, the admin space of the tenant',
  },
  ca: { ...REMOTE.ca, description: `with --url: ${REMOTE.ca.description}` },
  timeout: { ...REMOTE.timeout, description: `with --url: ${REMOTE.timeout.description}` },
  json: { ...JSON_OUTPUT, description: 'prints the whole decision record as JSON' },
} as const

export const explain = defineCommand({
  name: 'explain',
  summary: 'Shows the decision on a request: route, Seats, result and reason.',
  details:
    'It runs the code that decides requests in the gateway. If there is no store yet, it decides as with an empty one and says so.',
  positionals: [
    {
      name: 'METHOD',
      description:
        'the method of the request; with --from, the id of a logged request instead of METHOD and PATH',
      completes: METHODS,
    },
    {
      name: 'PATH',
      description:
        'its target: the path, and the query if there is one; for a call of an MCP server, "tool NAME", "prompt NAME" or "resource URI" stands for both',
      optional: true,
    },
  ],
  options,
  alternatives: [['token'], ['seat'], ['user'], ['api-key-id'], ['from']],
  exits: {
    0: 'there is a decision, whatever it is',
    1: 'the configuration has faults, or the store cannot be read',
    3: 'the answer differs from --expect',
  },
  example: 'seatgate explain DELETE /v1/orders/7 --space main --tenant acme --seat Viewer',
  run: async ({ values, positionals }, terminal) => {
    const [method = '', target] = methodAndPath(positionals)
    const expected = values.expect === undefined ? null : parsedOption('expect', values.expect, answerCode)
    checkRemoteUse(values)
    if (values.tables !== undefined && values.from !== undefined)
      throw new UsageError('--tables does not go with --from')
    const credential = (['token', 'api-key', 'from'] as const).find((name) => values[name] !== undefined)
    if (values.tenant !== undefined && credential !== undefined)
      throw new UsageError(`--tenant goes with --seat: --${credential} has its own tenant`)
    const { code, output } = await explained(method, target, values, terminal)
    await terminal.print(output)
    if (expected === null || expected === code) return 0
    terminal.printError(`seatgate explain: expected ${expected}, got ${code}`)
    return UNEXPECTED
  },
})

/** The exit code if the answer differs from --expect. */
const UNEXPECTED = 3

type Values = Arguments<typeof options>['values']

interface Explained {
  readonly code: string
  readonly output: string
}

async function explained(
  method: string,
  target: string | undefined,
  values: Values,
  terminal: Terminal,
): Promise<Explained> {
  if (values.from !== undefined) {
    if (target !== undefined || values.space !== undefined || values.host !== undefined)
      throw new UsageError('--from takes the id of a request alone, without PATH, --space and --host')
    const { logged, decision } = await decideAgain(values.from, method, values.config, terminal)
    const output = values.json
      ? recordAsJson(decision, { logged_code: logged })
      : `then ${logged}, now ${formatDecision(decision, null)}`
    return { code: decision.code, output }
  }
  if (target === undefined) throw new UsageError('PATH is missing')
  return values.url === undefined
    ? explainHere(method, target, values, terminal)
    : explainRemotely(method, target, values, terminal)
}

async function explainHere(
  method: string,
  target: string,
  values: Values,
  terminal: Terminal,
): Promise<Explained> {
  const bearer = values.token === undefined ? undefined : `Bearer ${values.token}`
  const headers = {
    ...NO_CREDENTIALS,
    apiKey: headerLines('--api-key', values['api-key']),
    authorization: headerLines('--token', bearer),
    space: headerLines('--space', values.space),
  }
  const version = values.tables === undefined ? undefined : versionNumber('--tables', values.tables)
  const { config } = await loadDecidingTables(values.config, terminal, { version })
  const tenant =
    values.tenant === undefined && values.seat === undefined ? null : tenantOf(config, values.tenant)
  return withStoreOrEmpty(config, terminal, async (store) => {
    const decisionPoint = await DecisionPoint.forOneDecision(
      store,
      { ephemeral: new ProcessEphemeral(), log: SILENT },
      config.memory,
      extensions.endpoints,
    )
    // A name without a Seat is put into the token for the given space, so that the output shows its verdict.
    const options = { spacesOfUnknown: headers.space.slice(0, 1) }
    const credentials: Credentials =
      tenant === null
        ? headers
        : {
            ...headers,
            authorization: [
              `Bearer ${await mintForSeats(store, tenant, { sub: 'explain' }, values.seat ?? [], options)}`,
            ],
          }
    const { engine, signIn, otherIssuers, table } = await decisionPoint.compile(config)
    if (values.host === undefined && table.hosts !== null) terminal.printError(HOST_IS_MISSING)
    const httpRequest = requestOfQuestion(table, { method, target, host: values.host ?? null })
    if (httpRequest instanceof Refusal) throw new CommandFailed(httpRequest.detail)
    const browser = { method: httpRequest.method, rawHeaders: [], upgrade: false }
    // The target as the bytes on the wire: UTF-8, one character a byte.
    const line = { ...httpRequest, target: Buffer.from(httpRequest.target, 'utf8').toString('latin1') }
    const fields = { linesOf: () => headers.space, call: httpRequest.call }
    const request = { ...line, credentials, fields, browser }
    const limits = { headerBytes: config.limits.headerBytes, methods: methodsOf(config) }
    const refusal = refusalOfRequestLine(line, limits)
    const evaluation =
      refusal === null
        ? await engine.nameSpaces(await engine.evaluate(request, true), STORE_PATIENCE)
        : unreadableEvaluation({ ...request, target: httpRequest.target }, refusal)
    const decision = await withLeftOutGroups(evaluation.decision, values.token, config, store)
    await signIn?.close()
    await otherIssuers?.close()
    const identity = signedIdentityOf(config.identity, decision)
    const output = values.json
      ? recordAsJson(decision, { signedIdentity: identity ?? undefined })
      : formatDecision(decision, identity)
    return { code: decision.code, output }
  })
}

/** The printed parts of a gateway's record: the members of a decision, with lists in place of Sets. */
interface RemoteRecord {
  readonly code: string
  readonly caller?: { readonly known: boolean | null }
  readonly signedIdentity?: SignedIdentityOf
}

/**
 * The decision, whose reason says if the provider left out the groups of the token's user: in the token, or
 * at the latest sign-in if the gateway issued the token.
 */
async function withLeftOutGroups(
  decision: Decision,
  token: string | undefined,
  { tenants }: Config,
  store: Pick<Store, 'readUser'>,
): Promise<Decision> {
  const { principal } = decision
  const tenant = tenants.get(principal?.tenant ?? '')
  if (token === undefined || tenant === undefined || principal === null) return decision
  if (principal.claims.by === 'membership') return decision
  const { adminSpace: space } = tenant
  const isLeftOut =
    principal.claims.by === 'name'
      ? (
          await store.readUser(tenant.id, principal.user, {
            space,
            admin: true,
            all: true,
            permissions: ['*'],
          })
        )?.areGroupsLeftOut === true
      : leavesOutGroups(token, tenant)
  return isLeftOut ? { ...decision, reason: `${decision.reason} ${LEFT_OUT}` } : decision
}

function explainRemotely(
  method: string,
  path: string,
  values: Values,
  terminal: Terminal,
): Promise<Explained> {
  const { in: place, space = null, host = null, seat: seats = null, user = null, json } = values
  const body = { method, path, space, host, seats, user, api_key: values['api-key-id'] ?? null }
  return withGateway({ ...values, space: place }, terminal, async (gateway) => {
    const sent = { method: 'POST', body, reads: true } as const
    const { value: record } = await gateway.send<RemoteRecord>('/v1/access/explain', sent)
    const output = json
      ? JSON.stringify(record, null, 2)
      : formatDecision(
          record as unknown as Decision,
          record.signedIdentity ?? null,
          record.caller?.known !== false,
        )
    return { code: record.code, output }
  })
}

function checkRemoteUse(values: Values): void {
  const present = (names: readonly (keyof Values)[]) => names.filter((name) => values[name] !== undefined)
  if (values.url !== undefined) {
    const [offline] = present(['token', 'tenant', 'from', 'tables'])
    if (offline !== undefined) throw new UsageError(`--${offline} does not go with --url`)
    return
  }
  const [remote] = present(['user', 'api-key-id', 'ca'])
  if (remote !== undefined) throw new UsageError(`--${remote} goes with --url`)
  if (values['api-key'] !== undefined && present(['token', 'seat', 'from']).length > 0)
    throw new UsageError('--token, --api-key, --seat and --from exclude each other')
}

/** How long in ms a refusal waits for the spaces that it names. */
const STORE_PATIENCE = 2000

/** Sign-in logs nothing: its log is no part of the output. */
const SILENT = { info: () => {}, warn: () => {}, error: () => {} }

/** The value of a header field, without leading and trailing white space (RFC 9110, section 5.5). */
function headerLines(option: string, value: string | undefined): string[] {
  if (value === undefined) return []
  const trimmed = value.replace(/^[ \t]+|[ \t]+$/g, '')
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(trimmed))
    throw new UsageError(`${option} has a control character, which no header field can carry`)
  return [trimmed]
}
