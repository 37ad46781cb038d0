/**
 * A browser, as far as sign-in needs one: it keeps cookies by origin, sends them back, follows redirects and fills in
 * the provider's forms. It collects every secret that it receives, so that tests can search the log for them.
 */

import { type IncomingHttpHeaders, request } from 'node:http'
import { isBuiltIn } from '../support/client.ts'

export interface Page {
  readonly url: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The body, parsed. Throws when it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of any shape
  readonly json: any
}

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The headers of a navigation. */
export const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
}

const MAX_STEPS = 20

export class Browser {
  /** Origin → name → value. */
  readonly #jar = new Map<string, Map<string, string>>()
  readonly #secrets: Set<string>
  readonly #user: string

  /** @param secrets receives each value that must not be in a log */
  constructor(user: string, secrets: Set<string> = new Set()) {
    this.#user = user
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
    const { origin } = new URL(url)
    const cookie = [...this.cookies(origin)].map(([name, value]) => `${name}=${value}`).join('; ')
    const page = await exchange(url, method, { ...(cookie === '' ? {} : { cookie }), ...headers }, body)
    for (const line of page.headers['set-cookie'] ?? []) this.#keep(origin, line)
    this.#remember(page)
    const { pathname, search } = new URL(url)
    if (isBuiltIn(pathname)) {
      const { assertConforms } = await import('../support/openapi.ts')
      const sent = body === undefined ? {} : { sent: { type: headers['content-type'] ?? '', body } }
      const { status, headers: given, body: text } = page
      assertConforms({ method, target: pathname + search, status, headers: given, body: text, ...sent })
    }
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

function unescape(text = ''): string {
  return text
    .replace(/&#x27;|&#39;/g, "'")
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
}

function exchange(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): Promise<Page> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const outgoing = request(
      url,
      { method, headers: { ...headers, ...length }, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          const { statusCode: status = 0, headers } = response
          resolve({
            url,
            status,
            headers,
            body: text,
            get json() {
              return JSON.parse(text)
            },
          })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
