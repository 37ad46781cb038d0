/** The verifiers of the manual, run as they stand there: they accept what an upstream received, and nothing else. */

import { spawn, spawnSync } from 'node:child_process'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose'
import t from 'tap'
import { HEADER, keyFile, newKey } from '../identity/support.ts'
import { startWorld } from '../support/world.ts'
import { blocksOf, root } from './pages.ts'
import { serverFolder } from '../support/servers/folder.ts'

const PAGE = 'docs/signed-identity.md'
const GATEWAY = 'https://gateway.example.com'

const [key, published, unknown] = [newKey(), newKey(), newKey()]
const world = await startWorld(t, {
  beside: {
    name: 'trainings',
    upstream: [],
    routes: ['GET /v1/mine: authenticated', 'GET /v1/all: trainings:list'],
  },
  top: [
    `identity: { issuer: "${GATEWAY}", lifetime: 5m, keys: [${keyFile(t, key)}, ${keyFile(t, published)}] }`,
  ],
})
await world.seat('Viewer', ['main'], ['trainings:list'])

/** What the upstream of the path received. */
async function received(path: string): Promise<string> {
  const headers = { authorization: `Bearer ${await world.token(['main:Viewer'])}`, space: 'main' }
  const { status } = await world.client.send('GET', path, headers)
  if (status !== 200) throw new Error(`status ${status}`)
  return String(world.upstream.seen.at(-1)?.headers[HEADER])
}

const [mine, all, elsewhere] = [
  await received('/v1/mine'),
  await received('/v1/all'),
  await received('/v1/me'),
]
const [head = '', payload = '', signature = ''] = mine.split('.')
const header = { ...decodeProtectedHeader(mine), alg: 'ES256', typ: 'seatgate+jwt' }
const claims = decodeJwt(mine)
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const signed = (changed: JWTPayload, by = key, more: object = {}) =>
  new SignJWT({ ...claims, ...changed }).setProtectedHeader({ ...header, ...more }).sign(createPrivateKey(by))
const { kid: publishedKid } = (await world.client.send('GET', '/.well-known/seatgate/jwks.json')).json.keys[1]
const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' })

const ACCEPTED: Readonly<Record<string, string>> = {
  'of an authenticated route': mine,
  'of a route with a permission': all,
  'by a key that does not sign yet': await signed({}, published, { kid: publishedKid }),
}
const REFUSED: Readonly<Record<string, string>> = {
  'for another upstream': elsewhere,
  'for several upstreams': await signed({ aud: ['billing', 'main'] }),
  expired: await signed({ exp: Math.floor(Date.now() / 1000) - 60 }),
  'of another issuer': await signed({ iss: 'https://evil.example' }),
  'with a claim that looks like others': await signed({ aud: 'main', sub: '","aud":"trainings","x":"' }),
  'without a signature': `${encoded({ ...header, alg: 'none' })}.${payload}.`,
  'alg none, and a signature': `${encoded({ ...header, alg: 'none' })}.${payload}.${signature}`,
  'its signature left out': `${head}.${payload}.`,
  'a signature of zeros': `${head}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
  'a changed claim': `${head}.${encoded({ ...claims, sub: 'root' })}.${signature}`,
  'by another key under the same kid': await signed({}, unknown),
  'by another key': await signed({}, unknown, { kid: 'A'.repeat(43) }),
  'by the public key as a secret': await new SignJWT(claims)
    .setProtectedHeader({ ...header, alg: 'HS256' })
    .sign(Buffer.from(publicPem)),
  'another kind of JWT': await signed({}, key, { typ: 'JWT' }),
  "the gateway's bearer token": await world.token([]),
  nothing: '',
  'no JWT': 'x',
  'four parts': `${mine}.${signature}`,
}

interface Program {
  readonly language: string
  readonly file: string
  /** Command and arguments before the file. */
  readonly run: readonly string[]
  /** Ends with 0 where the program is on this machine. */
  readonly probe: readonly string[]
}

/** The first that knows PyJWT. */
const python = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import jwt, cryptography; jwt.PyJWKClient']).status === 0,
)

const PROGRAMS: readonly Program[] = [
  { language: 'js', file: 'verify.mjs', run: [process.execPath], probe: [process.execPath, '--version'] },
  { language: 'go', file: 'verify.go', run: ['go', 'run'], probe: ['go', 'version'] },
  { language: 'python', file: 'verify.py', run: [python ?? ''], probe: [python ?? '', '--version'] },
  { language: 'java', file: 'Verify.java', run: ['java'], probe: ['java', '--version'] },
]

const folder = serverFolder(t, 'verify')
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

/** The lines that it prints for the tokens. */
function printed(
  { file, run: [command = '', ...args] }: Program,
  tokens: readonly string[],
): Promise<string[]> {
  const env = { ...process.env, GO111MODULE: 'off', GOTOOLCHAIN: 'local' }
  const child = spawn(command, [...args, file], { cwd: folder, env })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += chunk))
  child.stderr.on('data', (chunk) => (err += chunk))
  child.stdin.end(tokens.map((token) => `${token}\n`).join(''))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(out.trim().split('\n')) : reject(new Error(err))))
  })
}

for (const program of PROGRAMS) {
  const { language, file, probe } = program
  const [command = '', ...args] = probe
  const isHere = command !== '' && spawnSync(command, args).status === 0
  t.test(
    language,
    { skip: isHere ? false : `${language}, with its library, is not on this machine` },
    async (t) => {
      const blocks = blocksOf(PAGE).filter((block) => block.language === language)
      t.equal(blocks.length, 1)
      // The issuer is a name, and stays.
      const text = blocks[0]?.text.replaceAll(
        `${GATEWAY}/.well-known`,
        `http://127.0.0.1:${world.port}/.well-known`,
      )
      writeFileSync(join(folder, file), text ?? '')
      const cases = { ...ACCEPTED, ...REFUSED }
      const lines = await printed(program, Object.values(cases))
      const got = Object.fromEntries(Object.keys(cases).map((name, at) => [name, lines[at]]))
      t.strictSame(
        got,
        Object.fromEntries(
          Object.keys(cases).map((name) => [name, name in ACCEPTED ? 'acme/alice' : 'refused']),
        ),
      )
      t.equal(lines.length, Object.keys(cases).length)
    },
  )
}
