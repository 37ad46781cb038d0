import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { versionLine } from '../../src/cli/version.ts'
import { packageRoot } from '../../src/config/package-version.ts'
import { folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const node = `Node.js ${process.versions.node}`

t.test('of this program', async (t) => {
  const { code, out, err } = await seatgateHere(folderWith(t, {}), ['--version'])
  t.match({ code, err }, { code: 0, err: '' })
  t.match(out, /^seatgate \d+\.\d+\.\d+ \((?:[0-9a-f]{7,}|unknown), Node\.js \d+\.\d+\.\d+\)\n$/)
  t.equal(out, `${versionLine(packageRoot())}\n`)
})

t.test('of a package: the commit that the build has noted', async (t) => {
  const root = folderWith(t, {
    'package.json': '{"version": "1.2.3"}',
    'dist/build.json': '{"commit": "abc1234"}',
  })
  t.equal(versionLine(root), `seatgate 1.2.3 (abc1234, ${node})`)
  const commit = '0123456789abcdef0123456789abcdef01234567+'
  const whole = { 'package.json': '{"version": "1.2.3"}', 'dist/build.json': `{"commit": "${commit}"}` }
  t.equal(versionLine(folderWith(t, whole)), `seatgate 1.2.3 (0123456789ab+, ${node})`)
})

t.test('what is missing or no text is unknown', async (t) => {
  for (const build of ['', '{', '[]', 'null', '{"commit": 7}']) {
    const root = folderWith(t, { 'package.json': '{"version": "1.2.3"}', 'dist/build.json': build })
    t.equal(versionLine(root), `seatgate 1.2.3 (unknown, ${node})`, build)
  }
  t.equal(versionLine(folderWith(t, {})), `seatgate unknown (unknown, ${node})`)
})

t.test('of a clone, also with GIT_DIR; without git, and in the clone of another project', async (t) => {
  const root = folderWith(t, {
    'package.json': '{"version": "1.2.3"}',
    'inner/package.json': '{"version": "4.5.6"}',
  })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  try {
    git('init', '--quiet')
  } catch {
    return void t.pass({ skip: 'this machine has no git' })
  }
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'a')
  const commit = git('rev-parse', '--short', 'HEAD').trim()
  t.equal(versionLine(root), `seatgate 1.2.3 (${commit}, ${node})`)
  t.equal(versionLine(join(root, 'inner')), `seatgate 4.5.6 (unknown, ${node})`)

  const { PATH, GIT_DIR } = process.env
  t.teardown(() => {
    Object.assign(process.env, { PATH })
    if (GIT_DIR === undefined) delete process.env.GIT_DIR
    else process.env.GIT_DIR = GIT_DIR
  })
  process.env.GIT_DIR = '/nowhere'
  t.equal(versionLine(root), `seatgate 1.2.3 (${commit}, ${node})`)
  process.env.PATH = '/nowhere'
  t.equal(versionLine(root), `seatgate 1.2.3 (unknown, ${node})`)
})
