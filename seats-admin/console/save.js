/** Files that the browser saves. */

/**
 * @param {string} name of the file
 * @param {string} type its media type
 * @param {string} text its content
 */
export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
