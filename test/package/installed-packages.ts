/** What npm has installed. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @param modules a folder `node_modules` @returns `name@version` of all packages below it, sorted */
export function installedPackages(modules: string): string[] {
  return [...new Set(packagesBelow(modules))].sort()
}

function packagesBelow(modules: string): string[] {
  if (!existsSync(modules)) return []
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'))
  const folders = names.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((each) => join(name, each)) : name,
  )
  return folders.flatMap((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(modules, folder, 'package.json'), 'utf8'))
    return [`${name}@${version}`, ...packagesBelow(join(modules, folder, 'node_modules'))]
  })
}
