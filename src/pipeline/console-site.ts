/**
 * The files of the console (`seats-admin/console/`), served as they are written: only the names of packages
 * in imports are replaced, since a browser cannot resolve them and the policy of the page allows no import
 * map.
 */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import { Refusal } from '../model/errors.ts'
import type { PublicHandler, PublicRequest, PublicResponse } from '../model/route.ts'
import { acceptsPages } from '../oidc/sign-in/browser.ts'

/** The path of the console after `authPrefix`. Pages and files have paths below it. */
export const CONSOLE_PATH = '/_seatgate/console'

/** First segments below the console. `seats-admin/console/pages.js` has their pages. */
export const PAGES = [
  '',
  'routes',
  'tables',
  'seats',
  'api-keys',
  'users',
  'groups',
  'grants',
  'audit',
  'explain',
  'signed-in',
] as const

/** Modules of npm packages by their names in imports, and their files, which the build copies. */
export const PACKAGES: Readonly<Record<string, string>> = {
  preact: 'packages/preact.js',
  'preact/hooks': 'packages/preact-hooks.js',
  htm: 'packages/htm.js',
  '@preact/signals-core': 'packages/signals-core.js',
  '@preact/signals': 'packages/signals.js',
}

const FOLDER = new URL('../../seats-admin/console/', import.meta.url)
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const SHELL = 'index.html'

/** The policy of every response. `frame-ancestors` prevents clickjacking, Trusted Types injected markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')
const SECURITY = [
  ...['content-security-policy', POLICY],
  ...['x-content-type-options', 'nosniff'],
  ...['referrer-policy', 'no-referrer'],
  // Pages of other origins that open the console get no handle of its window, and cannot load its files.
  ...['cross-origin-opener-policy', 'same-origin'],
  ...['cross-origin-resource-policy', 'same-origin'],
] as const

/** Seconds: a year. The path changes with the content. */
const FOREVER = 'public, max-age=31536000, immutable'

const noSuchPage = new Refusal('route_not_found', 'The console has no such page or file.')

interface SiteFile {
  readonly type: string
  readonly plain: Buffer
  readonly gzipped: Buffer
}

interface Site {
  /** The hash of all files, which is in the path of each, as they import each other by relative paths. */
  readonly hash: string
  /** The files by their paths below the hash. */
  readonly files: ReadonlyMap<string, SiteFile>
  /** The page, with marks for the paths of this gateway. */
  readonly shell: string
}

/** The site of this process; null before it is read. */
let site: Promise<Site> | null = null

/**
 * Reads the files at the first request.
 *
 * @returns a handler of the paths of the console
 */
export function openConsole({ prefix, authPrefix }: BuiltInPlace): PublicHandler {
  const home = `${authPrefix}${CONSOLE_PATH}/`
  let page: Buffer | null = null
  return async (request) => {
    if (request.path.length < home.length) return redirected(home, request)
    site ??= readSite().catch((cause: unknown) => {
      site = null
      throw cause
    })
    const { hash, files, shell } = await site
    const assets = `${home}assets/${hash}/`
    if (request.path.startsWith(assets)) {
      const file = files.get(request.path.slice(assets.length))
      return file === undefined ? noSuchPage : fileResponse(file, request)
    }
    const [first = ''] = request.path.slice(home.length).split('/')
    const isPage = PAGES.some((each) => each === first)
    // The page says so itself. A file that is missing is no page: browsers ask for it by other means.
    if (!isPage && (first === 'assets' || !acceptsPages(request.rawHeaders))) return noSuchPage
    page ??= Buffer.from(filled(shell, { home, api: prefix, auth: authPrefix, assets, files }))
    const status = isPage ? 200 : 404
    return { status, body: page, contentType: 'text/html; charset=utf-8', headers: SECURITY }
  }
}

function redirected(home: string, { query }: PublicRequest): PublicResponse {
  return { status: 308, headers: [...SECURITY, 'location', query === '' ? home : `${home}?${query}`] }
}

function fileResponse({ type, plain, gzipped }: SiteFile, { rawHeaders }: PublicRequest): PublicResponse {
  const headers = [...SECURITY, 'vary', 'accept-encoding']
  const accepted = acceptsGzip(rawHeaders)
  return {
    status: 200,
    body: accepted ? gzipped : plain,
    contentType: type,
    cacheControl: FOREVER,
    headers: accepted ? [...headers, 'content-encoding', 'gzip'] : headers,
  }
}

/** RFC 9110, section 12.5.3. Without the field, the plain file is the safe answer. */
function acceptsGzip(rawHeaders: readonly string[]): boolean {
  return rawHeaders.some(
    (value, at) =>
      at % 2 === 1 &&
      rawHeaders[at - 1]?.toLowerCase() === 'accept-encoding' &&
      value.split(',').some((coding) => /^\s*gzip\s*(?:;\s*q=(?:1|0\.0*[1-9])[\d.]*\s*)?$/i.test(coding)),
  )
}

/**
 * The sizes of the whole console, for its limit.
 *
 * @returns bytes of all files, gzipped
 */
export async function consoleBytes(): Promise<number> {
  const { files, shell } = await readSite()
  const sizes = [...files.values()].map(({ gzipped }) => gzipped.length)
  return sizes.reduce((sum, size) => sum + size, (await promisify(gzip)(shell)).length)
}

async function readSite(): Promise<Site> {
  const texts = new Map<string, string>()
  for (const [name, file] of Object.entries(PACKAGES)) {
    const text = await readPackage(name, file)
    // Their source maps are not served.
    texts.set(file, resolved(file, text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')))
  }
  const names = (await readdir(FOLDER, { recursive: true })).map((each) => each.replaceAll('\\', '/'))
  for (const name of names.sort()) {
    if (TYPES[posix.extname(name)] === undefined || texts.has(name)) continue
    const text = await readFile(new URL(name, FOLDER), 'utf8')
    texts.set(name, name.endsWith('.js') ? resolved(name, text) : text)
  }
  const hash = createHash('sha256')
  for (const [name, text] of texts) hash.update(`${name} ${Buffer.byteLength(text)}\n${text}`)
  const files = await Promise.all(
    [...texts].map(async ([name, text]) => [name, await fileOf(name, text)] as const),
  )
  return {
    hash: hash.digest('hex').slice(0, 16),
    files: new Map(files),
    shell: await readFile(new URL(SHELL, FOLDER), 'utf8'),
  }
}

/** A clone has the npm package, an installation the copy of its file. */
async function readPackage(name: string, file: string): Promise<string> {
  const copy = new URL(file, FOLDER)
  return readFile(existsSync(copy) ? copy : fileURLToPath(import.meta.resolve(name)), 'utf8')
}

async function fileOf(name: string, text: string): Promise<SiteFile> {
  const plain = Buffer.from(text)
  const gzipped = await promisify(gzip)(plain, { level: 9 })
  return { type: TYPES[posix.extname(name)] ?? '', plain, gzipped }
}

/** Replaces the names of packages in its imports by relative paths. */
function resolved(file: string, text: string): string {
  return text.replaceAll(/(\b(?:from|import)\s*)(["'])([\w@/-]+)\2/g, (whole, before, quote, name) => {
    const target = PACKAGES[name]
    if (target === undefined) return whole
    const path = posix.relative(posix.dirname(file), target)
    return `${before}${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
  })
}

/** What the page says about this gateway; nothing of a tenant. */
interface Filling {
  readonly home: string
  readonly api: string
  readonly auth: string
  /** Before the paths of files. */
  readonly assets: string
  readonly files: Site['files']
}

function filled(shell: string, { files, ...texts }: Filling): string {
  // All modules are loaded at once, not one import after the other.
  const modules = [...files.keys()].filter((name) => name.endsWith('.js'))
  const preloads = modules.map((name) => `<link rel="modulepreload" href="${escaped(texts.assets + name)}">`)
  const values: Readonly<Record<string, string>> = { ...texts }
  return shell
    .replaceAll(/\{\{(home|api|auth|assets)\}\}/g, (_, name) => escaped(values[name] ?? ''))
    .replace('{{preloads}}', () => preloads.join('\n    '))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
