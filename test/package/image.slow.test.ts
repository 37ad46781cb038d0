/**
 * The steps of the Dockerfile, as far as they run without a container engine: each RUN in a folder that holds what COPY
 * brings there, and the last command on a folder that can't be written.
 */

import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** Of the image. */
const USER = 65532
const root = fileURLToPath(new URL('../..', import.meta.url))
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'seatgate-image-'))
t.teardown(() => {
  chmodSync(join(folder, 'app'), 0o755)
  rmSync(folder, { recursive: true, force: true })
})

/** The files that .dockerignore lets through. */
function context(to: string): void {
  const lines = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n')
  t.equal(lines[0], '*', 'nothing passes but what is named')
  for (const line of lines.slice(1))
    cpSync(join(root, line.slice(1)), join(to, line.slice(1)), { recursive: true })
}

/** Its absolute paths are those of the image: here they are below the folder. */
function run(stage: number, cwd: string): void {
  const commands = [...(dockerfile.split(/^# \d\./m)[stage] ?? '').matchAll(/^RUN (.*)$/gm)]
  t.ok(commands.length > 0)
  const below = commands
    .map(([, command]) => command)
    .join('\n')
    .replaceAll(' /data', ` ${folder}/data`)
    .replaceAll(' /seatgate-', ` ${folder}/seatgate-`)
    .replace(/^npm ci && (?=npm pack)/, '')
    .replace(/--pack-destination \/$/m, `--pack-destination ${folder}`)
  // The test runner gives options to each Node.js below it, which npm can't bear.
  execFileSync('env', ['-u', 'NODE_OPTIONS', 'bash', '-euc', below], {
    cwd,
    stdio: 'pipe',
    env: { ...process.env, SEATGATE_COMMIT: 'abc1234' },
  })
}

t.test('the stages build a program that starts on a root that can not be written', async (t) => {
  const [source, app] = [join(folder, 'source'), join(folder, 'app')]
  mkdirSync(source)
  context(source)
  // Another installation of what the lock file names would take a minute, and show nothing.
  symlinkSync(join(root, 'node_modules'), join(source, 'node_modules'))
  run(1, source)
  t.ok(readdirSync(folder).some((name) => /^seatgate-.*\.tgz$/.test(name)))

  mkdirSync(app)
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    cpSync(join(source, name), join(app, name))
  run(2, app)
  t.ok(existsSync(join(app, 'dist/src/cli/main.js')))
  t.notOk(existsSync(join(app, 'node_modules/node')), 'no Node.js but that of the image')
  t.notOk(existsSync(join(app, 'node_modules/tap')), 'no development dependency')
  t.equal(JSON.parse(readFileSync(join(app, 'dist/build.json'), 'utf8')).commit, 'abc1234')

  const config = join(folder, 'config')
  mkdirSync(join(config, 'routes'), { recursive: true })
  writeFileSync(join(config, 'routes/orders.yaml'), 'upstream: orders\nroutes:\n  GET /v1/orders: public\n')
  writeFileSync(
    join(config, 'gateway.config.yaml'),
    `listen: 127.0.0.1:0
ops: 127.0.0.1:0
store: sqlite:${folder}/data/seatgate.db
tenants:
  acme: { token: { secrets: ["a secret of more than thirty-two bytes, for tests"] } }
upstreams:
  orders: { targets: ["http://127.0.0.1:9"] }
routes: [routes/*.yaml]
`,
  )
  // Root may write everywhere, so that root runs the program as the image's user.
  execFileSync('chmod', ['-R', 'a-w', app, config])
  chmodSync(folder, 0o755)
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(join(folder, 'data'), USER, USER)
  const [, entry = ''] =
    /ENTRYPOINT \["\/nodejs\/bin\/node", "--disable-sigusr1", "\/(.*)"\]/.exec(dockerfile) ?? []
  const child = spawn(process.execPath, [join(folder, entry), 'start'], {
    cwd: config,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    ...(isRoot ? { uid: USER, gid: USER } : {}),
  })
  t.teardown(() => child.kill('SIGKILL'))
  let log = ''
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.stdout.on('data', (chunk: Buffer) => {
      log += chunk.toString()
      if (log.includes('/livez')) resolve()
    })
  })
  const ops = /127\.0\.0\.1:(\d+) \(\/livez/.exec(log)?.[1]
  t.ok(ops, log)
  const [, check = ''] = /"-e", "(.*)"\]/.exec(dockerfile) ?? []
  execFileSync(process.execPath, ['-e', check.replace('9090', ops ?? '')])
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
  t.throws(() => execFileSync(process.execPath, ['-e', check.replace('9090', ops ?? '')], { stdio: 'pipe' }))
})
