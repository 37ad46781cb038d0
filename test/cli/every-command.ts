/** One row a command, for the tests of every command: `every-command….slow.test.ts`. */

import { spawn } from 'node:child_process'
import type { Test } from 'tap'
import { CONFIG, folderWith, MAIN, outcomeOf, type Ran, ROUTES, SECRET } from './command-line.ts'
import { seatgateHere } from './in-process.ts'
import { signing } from './receipt/made-receipts.ts'

/** A path that has no place on a line of 80 columns: lines with it may be longer. */
export const LONG = `/v1/${'long-segment/'.repeat(8)}end`

/** Each command line is as a user types it. */
export interface Row {
  /** They do their work in the folder of the test, which has a store with the first Seat. */
  readonly works: readonly string[]
  /** Of `works`; 0 where it is left out. */
  readonly exit?: number
  /** Reads `broken.yaml`; left out: the first of `works` with `--config`. Null: the command reads no configuration. */
  readonly broken?: string | null
  /** Names the tenant `nobody`, which the configuration does not have. */
  readonly unknownTenant?: string
  /** The exit code of the first of `works` where there is no store yet; 0 where it is left out. */
  readonly withoutStore?: number
  /** Values that are refused as bad usage. */
  readonly wrong: readonly string[]
}

/** The arguments of a command line: words, and texts in quotes. */
export function argsOf(line: string): string[] {
  return Array.from(line.matchAll(/"([^"]*)"|\S+/g), ([word, quoted]) => quoted ?? word)
}

const caller = '--tenant acme --seat admin'

/** `start` runs until it is ended, and `health` needs it: their own tests have their messages. */
export const ROWS: Readonly<Record<string, Row>> = {
  init: {
    works: ['init new'],
    broken: null,
    wrong: ['init ""', 'init a --tenant Ä', 'init a --upstream x'],
  },
  check: {
    works: ['check', 'check --format github', 'check --hash'],
    wrong: [
      'check --format xml',
      'check --online --no-env',
      'check --hash --online',
      'check tables:x',
      'check tables:1 --no-env',
    ],
  },
  routes: {
    works: ['routes', 'routes --permission trainings:list'],
    wrong: ['routes --json=1'],
  },
  diff: {
    works: ['diff old .', 'diff old . --seats seats.yaml', 'diff old . --tenant acme --seats seats.yaml'],
    exit: 3,
    broken: 'diff broken.yaml .',
    unknownTenant: 'diff old . --tenant nobody',
    withoutStore: 3,
    wrong: ['diff old', 'diff old . --tenant', 'diff tables:0 .'],
  },
  explain: {
    works: [
      `explain GET /v1/trainings --space main ${caller}`,
      'explain GET /docs/a',
      'explain GET /v1/trainings --api-key x',
      'explain GET /v1/trainings --seat admin',
    ],
    unknownTenant: 'explain GET / --tenant nobody --seat a',
    wrong: [
      'explain GET',
      'explain GET / --expect perhaps',
      'explain GET / --token a\u0007b',
      'explain GET / --token a --tenant acme',
      'explain GET / --tables x',
    ],
  },
  'who-can': {
    works: [
      'who-can GET /v1/trainings',
      'who-can --permission trainings:list --seats seats.yaml',
      `who-can GET ${LONG}`,
    ],
    unknownTenant: 'who-can GET /v1/trainings --tenant nobody',
    wrong: ['who-can', 'who-can GET', 'who-can GET / --permission a:b'],
  },
  can: {
    works: ['can --seat admin', 'can --seat A --seats seats.yaml --not'],
    unknownTenant: 'can --seat admin --tenant nobody',
    withoutStore: 1,
    wrong: ['can', 'can --seat a --user b'],
  },
  refused: {
    works: ['refused access.log', 'refused access.log --since 10m --json'],
    broken: null,
    wrong: ['refused - -', 'refused access.log --since x'],
  },
  replay: {
    works: ['replay access.log', 'replay access.log --seats seats.yaml'],
    exit: 3,
    withoutStore: 1,
    wrong: ['replay'],
  },
  'audit list': {
    works: ['audit list --tenant acme'],
    unknownTenant: 'audit list --tenant nobody',
    withoutStore: 1,
    wrong: [
      'audit list',
      'audit list --tenant acme --limit 0',
      'audit list --tenant acme --action seat.look',
    ],
  },
  'audit export': {
    works: ['audit export --tenant acme'],
    unknownTenant: 'audit export --tenant nobody',
    withoutStore: 1,
    wrong: ['audit export acme'],
  },
  'audit verify': {
    works: ['audit verify --tenant acme'],
    unknownTenant: 'audit verify --tenant nobody',
    withoutStore: 1,
    wrong: ['audit verify acme', 'audit verify --tenant acme --head 1'],
  },
  revoke: {
    works: ['revoke --from receipts --config signing.yaml', 'revoke --from=a.receipt --config signing.yaml'],
    broken: 'revoke --from receipts --config broken.yaml',
    withoutStore: 1,
    wrong: ['revoke --from', 'revoke --config signing.yaml'],
  },
  'receipt verify': {
    works: ['receipt verify a.receipt --jwks keys.json'],
    broken: null,
    wrong: ['receipt verify a.receipt', 'receipt verify --jwks keys.json'],
  },
  'receipt show': {
    works: ['receipt show a.receipt'],
    broken: null,
    wrong: ['receipt show', 'receipt show a b'],
  },
  import: {
    works: ['import openapi api.json --upstream trainings --out new.yaml'],
    broken: null,
    wrong: [
      'import raml x --upstream u',
      'import openapi api.json',
      'import openapi api.json --upstream "a b"',
      'import openapi api.json --upstream u --permission x',
      'import openapi api.json --upstream u --resource https://gw.example/mcp',
      'import mcp tools.json --upstream u --check --out x.yaml',
    ],
  },
  lint: {
    works: ['lint', 'lint --seats seats.yaml'],
    unknownTenant: 'lint --tenant nobody',
    wrong: ['lint x', 'lint tables:'],
  },
  test: {
    works: ['test', 'test --coverage'],
    wrong: ['test --format xml', 'test --min-coverage 101'],
  },
  fleet: {
    works: ['fleet'],
    withoutStore: 1,
    wrong: ['fleet --url x', 'fleet --wait x', 'fleet --within 1s', 'fleet --wait 0123456789ab --within 0s'],
  },
  'scim compare': {
    works: ['scim compare --tenant acme --config scim.yaml'],
    broken: 'scim compare --tenant acme --config broken.yaml',
    unknownTenant: 'scim compare --tenant nobody --config scim.yaml',
    withoutStore: 1,
    wrong: ['scim compare acme', 'scim compare --url x'],
  },
  'secrets status': {
    works: ['secrets status', 'secrets status --json'],
    withoutStore: 1,
    wrong: ['secrets status acme', 'secrets status --url x'],
  },
  'secrets wait': {
    works: ['secrets wait acme --signs 0123456789ab --within 1s'],
    exit: 3,
    unknownTenant: 'secrets wait nobody --signs 0123456789ab',
    withoutStore: 1,
    wrong: ['secrets wait acme', 'secrets wait --signs 0123456789ab', 'secrets wait acme --without x'],
  },
  bootstrap: {
    works: ['bootstrap --tenant acme'],
    unknownTenant: 'bootstrap --tenant nobody',
    wrong: ['bootstrap acme'],
  },
  token: {
    works: [`token --sub anna ${caller}`, 'token --sub anna --seat admin'],
    unknownTenant: 'token --sub a --tenant nobody --seat a',
    withoutStore: 1,
    wrong: ['token --tenant acme --sub a', `token --sub a ${caller} --lifetime soon`],
  },
  completion: {
    works: ['completion bash', 'completion zsh', 'completion fish'],
    broken: null,
    wrong: ['completion', 'completion tcsh'],
  },
}

/** They talk to a gateway: `every-remote-command.slow.test.ts` has their rows. */
export function isRemote(name: string): boolean {
  return /^(?:(?:seats|keys|users|grants|revoke|tables) |verify$|decisions$)/.test(name)
}

const POLICY = `tenant: acme
seats: { Viewer: { spaces: [main], permissions: [trainings:list] } }
cases:
  - { request: GET /v1/trainings, seats: [Viewer], space: main, expect: allow }
`
/** A Seat that is gone. */
const LOGGED = {
  level: 'info',
  time: '2026-01-05T00:00:00.003Z',
  request_id: 'id',
  method: 'GET',
  path: '/v1/trainings',
  status: 200,
  code: 'allow',
  route: 'GET /v1/trainings',
  upstream: 'trainings',
  permission: 'trainings:list',
  tenant: 'acme',
  user: 'alice',
  auth: 'bearer',
  issued_at: 17,
  space: 'main',
  source: 'memory',
  seats: ['Gone:grants'],
  msg: 'request',
}

const { config, jwks, receipt } = signing()
const IDENTITY = `identity: { keys: [key.pem], issuer: "${config.issuer}" }\n`

const OIDC =
  'oidc: { issuer: "https://login.acme.example", client_id: seatgate, redirect_uri: "https://gw.example/auth/oidc/callback" }'
const SCIM = `${OIDC}, scim: { token: "scim-token-of-acme-scim-token-of-acme" }`

export const FILES = {
  'a.receipt': receipt(),
  'receipts/a.receipt': receipt(),
  'key.pem': config.keys[0] ?? '',
  'signing.yaml': `${CONFIG}${IDENTITY}`,
  'keys.json': jwks,
  'gateway.config.yaml': CONFIG,
  'scim.yaml': CONFIG.replace('acme: {', `acme: { ${SCIM},`),
  'routes/a.yaml': `${ROUTES}  GET ${LONG}: trainings:long\n`,
  'old/gateway.config.yaml': CONFIG,
  'old/routes/a.yaml': ROUTES.replace('trainings:list', 'trainings:all'),
  'broken.yaml': CONFIG.replace('listen:', 'listn:').replace('store:', 'stor:'),
  'seats.yaml': 'tenant: acme\nseats: { A: { spaces: [main], permissions: [trainings:lists] } }\n',
  'policy/acme.yaml': POLICY,
  'access.log': `${JSON.stringify(LOGGED)}\n`,
  'api.json': JSON.stringify({ openapi: '3.0.3', paths: { '/a': { get: {} }, [LONG]: { get: {} } } }),
}

/** With the first Seat. */
export async function folderWithStore(t: Test): Promise<string> {
  const folder = folderWith(t, FILES)
  await seatgateHere(folder, ['bootstrap', '--tenant', 'acme'])
  return folder
}

/** A fault or a finding at its place, which editors and CI read: one line each, whatever its length. */
export const PLACED = /^[\w./-]+:\d+(?::\d+)?: /

export function wellSaid(t: Test, { out, err }: Ran, what: string): void {
  t.notMatch(out + err, '\u001b', `${what}: no escape sequence`)
  t.notMatch(err, /\n +at |^\w*Error:|undefined|\[object/m, `${what}: no stack, no leftovers`)
}

/** In this process, and in those that it starts. Node.js itself warns of both kinds at once. */
export function askForColours(): void {
  delete process.env['NO_COLOR']
  Object.assign(process.env, { FORCE_COLOR: '3', CLICOLOR_FORCE: '1', COLORTERM: 'truecolor' })
}

/** `| head -1`, as a shell runs it; the exit code is that of the command. */
export function intoHead(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const script = '"$@" | head -1; exit "${PIPESTATUS[0]}"'
  const child = spawn('bash', ['-c', script, 'bash', process.execPath, MAIN, ...args], {
    cwd,
    env: { ...process.env, ACME_SECRET: SECRET, ...env },
  })
  return outcomeOf(child)
}
