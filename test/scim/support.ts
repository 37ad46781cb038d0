/** A gateway whose tenants acme and globex have SCIM, and their providers' requests. */

import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { Answer } from '../support/client.ts'
import type { SignInWorld } from '../sign-in/world.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'

export const TOKEN = 'scim-token-of-acme-scim-token-of-acme'
export const NEW_TOKEN = 'new-scim-token-of-acme-new-scim-token'
export const GLOBEX_TOKEN = 'scim-token-of-globex-scim-token-of-globex'
export const ORIGIN = 'https://gw.example'
export const BASE = '/scim/acme/v2'

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

/** @param name of the tenant, and of its client at the provider */
function oidc(name: string, redirect: string): string {
  return `oidc: { issuer: https://login.example, client_id: ${name}, redirect_uri: ${redirect} }`
}

const SCIM = 'scim: { token: ["${NEW_TOKEN}", "${TOKEN}"] }'

export interface ScimOptions extends WorldOptions {
  /** The setting `scim` of acme. */
  readonly scim?: string
  /** The `redirect_uri` of both. */
  readonly redirect?: string
  /** Whether globex has SCIM too; left out: it has. */
  readonly globex?: boolean
}

export async function startScim(t: Test, options: ScimOptions = {}): Promise<ScimWorld> {
  const { scim = SCIM, redirect = `${ORIGIN}/auth/oidc/callback`, globex = true, ...more } = options
  const env = { TOKEN, NEW_TOKEN, GLOBEX_TOKEN, ...more.env }
  const acme = [oidc('acme', redirect), scim, ...(more.acme ?? [])]
  const world = await startWorld(t, { ...more, acme, env })
  if (globex) {
    const { file } = world.config
    const own = 'globex: { token: { secrets: ["${GLOBEX_SECRET}"] }'
    const added = `, ${oidc('globex', redirect)}, scim: { token: "\${GLOBEX_TOKEN}" } }`
    writeFileSync(file, readFileSync(file, 'utf8').replace(`${own} }`, own + added))
    await world.reload()
  }
  return new ScimWorld(world)
}

/**
 * Adds settings of SCIM to tenant acme of a world with sign-in.
 *
 * @param settings with the token as `${TOKEN}`
 */
export async function giveScim(
  { gateway, secrets }: Pick<SignInWorld, 'gateway' | 'secrets'>,
  settings: string,
): Promise<void> {
  secrets.add(TOKEN)
  const { file } = gateway.config
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replace(/^( {2}acme: .*) \}$/m, (_, line: string) => `${line}, ${settings} }`),
  )
  await gateway.reload({ TOKEN })
}

export class ScimWorld {
  readonly world: World

  constructor(world: World) {
    this.world = world
  }

  /** A request of acme's provider. @param path after the address of the server */
  send(
    method: string,
    path: string,
    body?: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const type = body === undefined ? {} : { 'content-type': 'application/scim+json' }
    const headers = { authorization: `Bearer ${TOKEN}`, ...type, ...more }
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    return this.world.client.send(method, BASE + path, headers, text)
  }

  patch(path: string, ...operations: readonly unknown[]): Promise<Answer> {
    return this.send('PATCH', path, { schemas: [PATCH], Operations: operations })
  }

  /** Makes a user. @returns its id */
  async user(userName: string, more: object = {}): Promise<string> {
    const body = { schemas: [USER], userName, externalId: userName, active: true, ...more }
    return idOf(await this.send('POST', '/Users', body))
  }

  /** Makes a group. @returns its id */
  async group(displayName: string, members: readonly string[] = []): Promise<string> {
    const body = { schemas: [GROUP], displayName, members: members.map((value) => ({ value })) }
    return idOf(await this.send('POST', '/Groups', body))
  }

  /** The ids of the members of a group, sorted. */
  async members(id: string): Promise<readonly string[]> {
    const { json } = await this.send('GET', `/Groups/${id}`)
    return json.members.map(({ value }: { readonly value: string }) => value).sort()
  }
}

function idOf({ status, body, json }: Answer): string {
  if (status !== 201) throw new Error(`${status} ${body}`)
  return json.id
}

/**
 * A request, and what is expected of its answer. `{name}` in a text stands for a value that an earlier answer
 * gave.
 */
export interface Step {
  readonly does: string
  readonly request: readonly [method: string, path: string, body?: unknown]
  readonly status: number
  /** What the body has at least. */
  readonly has?: object
  /** Remembers the `id` of the answer, or of the first resource of a list, under this name. */
  readonly as?: string
}

/** Sends the requests of a provider in order. @returns the ids by their names */
export async function run(t: Test, scim: ScimWorld, steps: readonly Step[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (all, name: string) => ids.get(name) ?? all)
  for (const {
    does,
    request: [method, path, body],
    status,
    has,
    as,
  } of steps) {
    const sent = body === undefined ? undefined : filled(JSON.stringify(body))
    const answer = await scim.send(method, filled(path), sent)
    if (!t.equal(answer.status, status, `${does}: ${answer.body}`)) break
    if (answer.body !== '') t.equal(answer.headers['content-type'], 'application/scim+json', does)
    if (has !== undefined) t.match(answer.json, JSON.parse(filled(JSON.stringify(has))), does)
    if (as !== undefined) ids.set(as, answer.json.id ?? answer.json.Resources[0].id)
  }
  return ids
}
