/**
 * A user at a gateway, with a browser as far as sign-in needs one: it keeps cookies by origin, sends them back, follows
 * redirects and fills in the provider's forms. It collects every secret that it receives, and checks every refusal of
 * the gateway for them.
 */

import { type Answer, Client } from '../support/client.ts'
import { searchIn } from './search.ts'

export type Page = Answer & { readonly url: string }

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

interface Asked extends Sent {
  readonly token?: string
  readonly space?: string
}

type Fields = Readonly<Record<string, unknown>>

/** The headers of a navigation. */
export const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
}

const MAX_STEPS = 20

export class Visitor {
  /** The origin of the gateway. */
  readonly origin: string
  /** Origin → name → value. */
  readonly #jar = new Map<string, Map<string, string>>()
  readonly #secrets: Set<string>
  readonly #user: string

  /** @param secrets receives each value that must not appear anywhere */
  constructor(user: string, origin: string, secrets: Set<string>) {
    this.#user = user
    this.origin = origin
    this.#secrets = secrets
  }

  /** Cookies of an origin, for reading and changing. */
  cookies(origin: string): Map<string, string> {
    let cookies = this.#jar.get(origin)
    if (cookies === undefined) this.#jar.set(origin, (cookies = new Map()))
    return cookies
  }

  /** One request; redirects are not followed. */
  async send(url: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Page> {
    const { origin, port, pathname, search } = new URL(url)
    const cookie = [...this.cookies(origin)].map(([name, value]) => `${name}=${value}`).join('; ')
    const fields = { ...(cookie === '' ? {} : { cookie }), ...headers }
    const client = new Client(Number(port))
    const answer = await client.send(method, pathname + search, fields, body).finally(() => client.close())
    const page = Object.assign(answer, { url })
    for (const line of page.headers['set-cookie'] ?? []) this.#keep(origin, line)
    this.#remember(page)
    if (page.status >= 400 && origin === this.origin)
      searchIn(`a refusal of ${pathname}`, `${page.body} ${JSON.stringify(page.headers)}`, this.#secrets)
    return page
  }

  post(
    url: string,
    fields: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<Page> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams(fields).toString()
    return this.send(url, { method: 'POST', headers: { ...type, ...headers }, body })
  }

  postJson(url: string, value: unknown, headers: Record<string, string> = {}): Promise<Page> {
    const type = { 'content-type': 'application/json' }
    return this.send(url, { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(value) })
  }

  /**
   * Goes to a page, signs in where required, and stops at the first response that is neither a redirect nor a form.
   * `until`: stops before a request to an address that it matches.
   */
  async walk(start: string, until?: (url: string) => boolean): Promise<Page> {
    return this.onward(await this.send(start, { headers: NAVIGATION }), until)
  }

  /** Continues from a response. */
  async onward(page: Page, until: (url: string) => boolean = () => false): Promise<Page> {
    let at = page
    for (let step = 0; step < MAX_STEPS; step++) {
      const { location } = at.headers
      if (location !== undefined) {
        const next = new URL(location, at.url).href
        if (until(next)) return at
        at = await this.send(next, { headers: NAVIGATION })
        continue
      }
      const form = /<form[^>]*>/i.exec(at.body)?.[0] ?? ''
      if (!/method="post"/i.test(form)) return at
      const action = unescape(/action="([^"]+)"/i.exec(form)?.[1])
      at = await this.post(new URL(action, at.url).href, this.#fill(at.body), NAVIGATION)
    }
    throw new Error(`no end of redirects: ${at.url}`)
  }

  /** A request of a program to the gateway. */
  ask(path: string, { token, space, headers = {}, ...more }: Asked = {}): Promise<Page> {
    return this.send(this.origin + path, {
      ...more,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(space === undefined ? {} : { space }),
        ...headers,
      },
    })
  }

  /** Begins a sign-in for a program. */
  begin(tenant = 'acme', more: Fields = {}): Promise<Page> {
    return this.postJson(`${this.origin}/auth/oidc/login`, { tenant, ...more })
  }

  /** The provider's response, as the URL of the callback. */
  async answer(tenant = 'acme', more: Fields = {}): Promise<URL> {
    const begun = await this.begin(tenant, more)
    const stopped = await this.walk(begun.json.authorization_url, isCallback)
    return new URL(stopped.headers.location ?? 'nowhere:')
  }

  /** A complete sign-in for a program. */
  async signIn(tenant = 'acme'): Promise<Page> {
    return this.send((await this.answer(tenant)).href)
  }

  /** Goes to a page, by way of the provider where it is redirected there. */
  page(path: string): Promise<Page> {
    return this.walk(this.origin + path)
  }

  refresh(handle: string): Promise<Page> {
    return this.postJson(`${this.origin}/auth/oidc/refresh`, { refresh_token: handle })
  }

  validate(idToken: string, tenant = 'acme'): Promise<Page> {
    return this.postJson(`${this.origin}/auth/oidc/validate`, { tenant, id_token: idToken })
  }

  /** A request of a script on the gateway's own pages. */
  logout(fields: Fields = {}, origin = this.origin): Promise<Page> {
    return this.postJson(`${this.origin}/auth/oidc/logout`, fields, { origin })
  }

  /**
   * A visitor with copies of these cookies, at the same gateway or another: an attacker, or the same browser behind a
   * load balancer.
   */
  withCookiesOf(other: Visitor): this {
    for (const [name, value] of other.cookies(other.origin)) this.cookies(this.origin).set(name, value)
    return this
  }

  #fill(html: string): Record<string, string> {
    const fields: Record<string, string> = {}
    for (const [input] of html.matchAll(/<(?:input|button)[^>]*>/g)) {
      const name = /name="([^"]*)"/.exec(input)?.[1]
      if (name !== undefined) fields[name] = unescape(/value="([^"]*)"/.exec(input)?.[1])
    }
    if ('login' in fields) Object.assign(fields, { login: this.#user, password: 'a password' })
    return fields
  }

  #keep(origin: string, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((each) => each.trim())
    const at = pair.indexOf('=')
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
    const gone = attributes.some((each) => /^max-age=0$/i.test(each) || /^expires=.*1970/i.test(each))
    if (gone || value === '') this.cookies(origin).delete(name)
    else this.cookies(origin).set(name, value)
    if (name.startsWith('__Host-') && value.length > 8) this.#secrets.add(value)
  }

  #remember({ headers, body }: Page): void {
    const location = headers.location === undefined ? null : URL.parse(headers.location, 'http://nowhere')
    for (const name of ['code', 'state', 'nonce', 'id_token_hint']) {
      const value = location?.searchParams.get(name)
      if (value !== null && value !== undefined) this.#secrets.add(value)
    }
    for (const [, value] of body.matchAll(/"(?:access_token|refresh_token|id_token|state)":"([^"]+)"/g))
      this.#secrets.add(value ?? '')
  }
}

export function isCallback(url: string): boolean {
  return new URL(url).pathname.startsWith('/auth/oidc/callback')
}

function unescape(text = ''): string {
  return text
    .replace(/&#x27;|&#39;/g, "'")
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
}
