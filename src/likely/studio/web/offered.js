// What only a page that is served can do. Modules that no page in a file has put themselves here.

export const offered = { start: null, refusal: null };
