/** Sign-in behind a real server: the endpoints, one page that requires sign-in, and one route for programs. */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { Authenticator } from '../../src/decision/authn/authenticator.ts'
import type { BrowserContext } from '../../src/model/authorization-request.ts'
import { Refusal } from '../../src/model/errors.ts'
import type { Principal } from '../../src/model/principal.ts'
import { headerLines, isNavigation } from '../../src/oidc/sign-in/browser.ts'
import type { PublicResponse } from '../../src/model/route.ts'
import type { Reply } from '../../src/oidc/ports.ts'
import { Sessions } from '../../src/oidc/session/session-authentication.ts'
import { problemContent, problemHeaders, rawProblem } from '../../src/http/server/problem.ts'
import { verifiedToken } from '../../src/runtime/other-issuers.ts'
import { DEFAULT_MEMORY } from '../support/default-settings.ts'
import type { SignInWorld } from './world.ts'

export function mount(server: Server, world: SignInWorld): void {
  server.on('request', (request, response) => {
    serve(request, world)
      .catch(() => new Refusal('unavailable', 'The gateway cannot decide at the moment.'))
      .then((result) => (result instanceof Refusal ? refuse(response, result) : reply(response, result)))
  })
  // Cookies of many sign-ins.
  server.on('clientError', (_error, socket) =>
    socket.end(rawProblem(new Refusal('headers_too_large', 'The request cannot be read.'), 'a-test')),
  )
}

async function serve(request: IncomingMessage, world: SignInWorld): Promise<Reply> {
  const { method = '', url = '', rawHeaders } = request
  const requestId = randomUUID()
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2)
  const received = await buffer(request)
  const body = received.length === 0 ? null : received
  if (path.startsWith(`${world.prefix}/auth/oidc/`))
    return world.oidc.serve({ method, path, query, rawHeaders, body, requestId })
  const caller = await authenticate(world, { method, rawHeaders, upgrade: false, requestId })
  if (path === '/pages/bye') return { status: 200, headers: [], body: { page: 'bye' } }
  // The behaviour of `sign_in: acme` on a route.
  if (
    caller instanceof Refusal &&
    caller.status === 401 &&
    path.startsWith('/pages/') &&
    isNavigation(method, rawHeaders)
  )
    return world.oidc.signIn('acme', { target: url, rawHeaders, requestId })
  return caller instanceof Refusal ? caller : { status: 200, headers: [], body: { path, ...shown(caller) } }
}

/** As on a route that requires `authenticated`. */
async function authenticate(world: SignInWorld, browser: BrowserContext): Promise<Principal | Refusal> {
  const sessionById = async (tenant: string, id: string) =>
    (await world.sessions.readSession(tenant, id)).value
  const tenants = new Map(world.tenants().map((each) => [each.id, each]))
  const { now, oidc } = world
  const authenticator = new Authenticator({
    ...{ tenants, defaultTenant: null, apiKeyById: () => null, sessionById, now, memory: DEFAULT_MEMORY },
    sessions: new Sessions({ tenants, sessionById, renew: oidc.renew, now }),
    otherIssuer: async (token, requestId) => {
      const found = await oidc.verifyProviderToken(token, requestId)
      return found === null || found instanceof Refusal ? found : verifiedToken(found, 'bearer', 0)
    },
  })
  const linesOf = (name: string) => headerLines(browser.rawHeaders, name)
  const credentials = {
    apiKey: [],
    authorization: linesOf('authorization'),
    cookie: linesOf('cookie'),
    space: [],
  }
  return authenticator.authenticate(credentials, undefined, browser)
}

function shown({ method, tenant, user, email, claims }: Principal) {
  return {
    auth: method,
    tenant,
    user,
    email,
    entries: claims.by === 'name' ? Object.fromEntries(claims.entries) : {},
  }
}

function reply(response: ServerResponse, { status, headers, body }: PublicResponse): void {
  const bytes = body === undefined ? '' : JSON.stringify(body)
  const own = ['Cache-Control', 'no-store', 'Content-Type', 'application/json', 'X-Request-Id', 'a-test']
  response.writeHead(status, [...own, ...headers])
  response.end(bytes)
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  const { type, text } = problemContent(refusal, 'a-test')
  response.writeHead(refusal.status, ['Content-Type', type, ...problemHeaders(refusal, 'a-test')])
  response.end(text)
}
