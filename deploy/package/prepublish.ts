/**
 * Refuses to publish the folder: npm would announce the dependencies of the clone's package.json, and not those in the package.
 * The program that was checked is in the file that `npm pack` has made.
 */

console.error('Publish the file that npm pack makes: npm publish ./seatgate-VERSION.tgz')
process.exitCode = 1
