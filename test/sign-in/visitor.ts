/**
 * A user at a gateway: the browser client of the sign-in tests, with a method for each step of a sign-in. Checks
 * every refusal for secrets.
 */

import { Browser, type Page, type Sent } from '../oidc/browser-client.ts'
import { searchIn } from './search.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Asked extends Sent {
  readonly token?: string
  readonly space?: string
}

export class Visitor extends Browser {
  /** The origin of the gateway. */
  readonly origin: string
  readonly #known: Set<string>

  /** @param secrets receives each value that must not appear anywhere */
  constructor(user: string, origin: string, secrets: Set<string>) {
    super(user, secrets)
    this.origin = origin
    this.#known = secrets
  }

  override async send(url: string, sent?: Sent): Promise<Page> {
    const page = await super.send(url, sent)
    if (page.status >= 400 && url.startsWith(this.origin)) this.#search(page)
    return page
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

  #search({ url, body, headers }: Page): void {
    searchIn(`a refusal of ${new URL(url).pathname}`, `${body} ${JSON.stringify(headers)}`, this.#known)
  }
}

export function isCallback(url: string): boolean {
  return new URL(url).pathname.startsWith('/auth/oidc/callback')
}
