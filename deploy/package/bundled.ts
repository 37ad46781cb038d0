/**
 * Packages that are inside the package of Seatgate and not installed beside it, because an installation needs a file or two of
 * them.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { buildSync } from 'esbuild'
import { PACKAGES } from '../../src/pipeline/console-site.ts'
import { dependenciesOf, type LockFile, runtimePackages } from './lock-file.ts'

interface Program {
  /** The path of the one file that its modules become, below the compiled code. */
  readonly file: string
  /** The names that Seatgate imports. Node.js would find them in CommonJS by itself, the bundler does not. */
  readonly exports: readonly string[]
}

/**
 * By the names in imports. pino-pretty would bring 14 more packages, and prom-client one whose tests have 2 MiB. What they share
 * with the program is installed.
 */
const PROGRAMS: Readonly<Record<string, Program>> = {
  'pino-pretty': { file: 'packages/pino-pretty.js', exports: ['prettyFactory'] },
  'prom-client': {
    file: 'packages/prom-client.js',
    exports: ['AggregatorRegistry', 'collectDefaultMetrics', 'Counter', 'Histogram', 'Registry'],
  },
}

/** CommonJS modules ask for `require`. */
const REQUIRE = `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);`

/** Writes the file of each program below the compiled code. */
export function bundlePrograms(root: string, dist: string): void {
  for (const [name, { file, exports }] of Object.entries(PROGRAMS)) {
    const outfile = join(dist, file)
    mkdirSync(dirname(outfile), { recursive: true })
    const { outputFiles } = buildSync({
      stdin: { contents: `export { ${exports.join(', ')} } from '${name}'`, resolveDir: root },
      absWorkingDir: root,
      bundle: true,
      external: ['@opentelemetry/api'],
      platform: 'node',
      format: 'esm',
      target: 'node22',
      minifyWhitespace: true,
      lineLimit: 120,
      // Comments name the files of the packages: the same ones where node_modules is a link.
      preserveSymlinks: true,
      legalComments: 'inline',
      banner: { js: REQUIRE },
      write: false,
    })
    for (const { contents } of outputFiles) writeFileSync(outfile, contents)
  }
}

/** The code with the imports of programs led to their files. @param file its path below the compiled code */
export function withBundledImports(code: string, file: string): string {
  return code.replaceAll(/(\bfrom|\bimport\()"([\w@/-]+)"/g, (whole, before: string, name: string) => {
    const target = PROGRAMS[name]
    return target === undefined ? whole : `${before}"${posix.relative(posix.dirname(file), target.file)}"`
  })
}

/** The paths of all packages inside, in the lock file. */
export function bundledPaths(lock: LockFile): string[] {
  const modules = Object.keys(PACKAGES).map((module) => /^(?:@[^/]+\/)?[^/]+/.exec(module)?.[0])
  const installed = runtimePackages(lock)
  const paths = new Set<string>()
  const add = (path: string) => {
    if (installed.has(path) || paths.has(path)) return
    paths.add(path)
    for (const each of dependenciesOf(lock, path)) add(each)
  }
  for (const name of Object.keys(PROGRAMS)) add(`node_modules/${name}`)
  for (const name of modules) paths.add(`node_modules/${name}`)
  return [...paths].sort()
}
