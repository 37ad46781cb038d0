/** The console of a whole gateway in a real Chromium. Policies that a page violates are collected, and so are its errors. */

import type { BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { startChromium } from '../sign-in/chromium.ts'
import { type SignInWorld, startSignIn, type Start } from '../sign-in/world.ts'
import { until } from '../support/until.ts'

export const HOME = '/_seatgate/console/'

/** Runs in the page. */
const REPORT = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`

/** A tab that has used an API key: a new one continues the session that the browser has. */
const OWN_TAB = `if (sessionStorage.getItem('seatgate.console') === null) sessionStorage.setItem('seatgate.console', '{"by":"key"}')`

/** What pages show after their last `.loading`: paths and selectors. Users of these pages are blocked, with a reason. */
const LATE: readonly [RegExp, string][] = [
  [/^$/, '[aria-label="Newest decisions"] tbody tr'],
  [/^explain\?/, '.verdict, [role=alert]'],
  [/^users\?sub=(?:alice|user-)/, 'text=Reason:'],
]

/** The console at one address. */
export class ConsolePages {
  readonly origin: string
  /** Of the tenant's administrator. */
  readonly key: string
  readonly context: BrowserContext
  /** Violations of the policy, uncaught errors and errors of the page. */
  readonly faults: string[] = []

  constructor(origin: string, key: string, context: BrowserContext) {
    this.origin = origin
    this.key = key
    this.context = context
  }

  url(path = ''): string {
    return `${this.origin}${HOME}${path}`
  }

  /** A page of the console, not signed in, whatever session the browser has. */
  async page(path = ''): Promise<Page> {
    const page = await this.context.newPage()
    page.setDefaultTimeout(60_000)
    page.on('pageerror', (error) => this.faults.push(String(error.stack)))
    page.on('console', (message) => {
      const { url } = message.location()
      const isOwn = url === '' || url.startsWith(this.origin)
      // Refusals are part of the tests; the pages of the provider are not.
      if (message.type() === 'error' && isOwn && !/status of (?:4|5)\d\d/.test(message.text()))
        this.faults.push(message.text())
    })
    await page.addInitScript(REPORT)
    await page.addInitScript(OWN_TAB)
    await page.goto(this.url(path))
    return page
  }

  /** Signed in by an API key. @param space '': the admin space */
  async signedIn(path = '', key = this.key, space = ''): Promise<Page> {
    const page = await this.page(path)
    await this.signIn(page, key, space)
    return page
  }

  async signIn(page: Page, key = this.key, space = ''): Promise<void> {
    await page.getByLabel('API key', { exact: true }).and(page.locator('input[type=password]')).fill(key)
    if (space !== '') await page.getByRole('textbox', { name: 'Space' }).fill(space)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  }

  /**
   * Waits until the form of a Seat asks the gateway nothing more: it reads Seats and routes, for suggestions. If that
   * reading were the first that a credential's end refuses, the dialog that asks for another one would open before its time.
   */
  async seatFormRests(page: Page): Promise<void> {
    await page.locator('datalist:has(option)').nth(1).waitFor({ state: 'attached' })
  }

  /** Opens another page, and waits until it shows what it reads. */
  async open(page: Page, path: string): Promise<void> {
    await this.follow(page, path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await until(async () => (await page.locator('.loading').count()) === 0, `${path}: loaded`)
    for (const [paths, selector] of LATE) if (paths.test(path)) await page.locator(selector).first().waitFor()
  }

  /** Opens another page as a link does: a new load would forget the key. */
  async follow(page: Page, path: string): Promise<void> {
    await page.evaluate(`(() => { const link = document.createElement('a'); link.href = ${JSON.stringify(this.url(path))};
      document.body.append(link); link.click(); link.remove() })()`)
  }
}

export class ConsoleInBrowser extends ConsolePages {
  readonly world: SignInWorld

  constructor(world: SignInWorld, context: BrowserContext) {
    super(world.origin, world.gateway.keys['acme'] ?? '', context)
    this.world = world
  }

  /** An API key of these Seats. */
  async keyOf(name: string, seats: readonly string[]): Promise<{ id: string; key: string }> {
    const { json } = await this.world.gateway.admin('POST', '/v1/api-keys', { name, seats })
    return json
  }

  /**
   * From the sign-in page to the page that was asked for, by the real pages of the provider. The session's cookie may appear
   * nowhere from then on.
   */
  async signInAtProvider(page: Page, user: string, tenant: 'acme' | 'globex' = 'acme'): Promise<void> {
    const { issuer } = this.world[tenant]
    await page.getByRole('radio', { name: 'Identity provider' }).check()
    await page.getByRole('textbox', { name: 'Tenant' }).fill(tenant)
    await page.getByRole('button', { name: 'Continue to the provider' }).click()
    const navigation = page.getByRole('navigation', { name: 'Pages' })
    const isAtProvider = () => new URL(page.url()).origin === issuer
    // A provider that knows the user asks nothing.
    await until(async () => isAtProvider() || (await navigation.count()) > 0, 'the page of the provider')
    for (let steps = 0; isAtProvider() && steps < 5; steps++) {
      // The address changes before the page is parsed.
      await page.waitForLoadState()
      if ((await page.locator('input[name=login]').count()) > 0) {
        await page.fill('input[name=login]', user)
        await page.fill('input[name=password]', 'a password')
      }
      const before = page.url()
      await page.click('button[type=submit]')
      await page.waitForURL((url) => url.href !== before)
    }
    await navigation.waitFor()
    for (const { value } of await this.context.cookies(this.origin)) this.world.secrets.add(value)
  }
}

export async function startConsole(t: Test, options: Start = {}): Promise<ConsoleInBrowser> {
  const originOf = (port: number) => `http://localhost:${port}`
  const world = await startSignIn(t, { originOf, ...options, top: ['console: true', ...(options.top ?? [])] })
  return new ConsoleInBrowser(world, await startChromium(t))
}
