-- The index of a ranked search: which words stand in which contents, and what each is worth there. A segment
-- holds the words of the contents whose numbers are above since, up to last; a block of it some words from word on,
-- each with its contents.
CREATE TABLE segments (
    last       bigint PRIMARY KEY,
    since      bigint NOT NULL,
    size_bytes bigint NOT NULL
);

CREATE TABLE words (
    id      bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    segment bigint NOT NULL,
    word    bytea  NOT NULL,
    data    bytea  NOT NULL
);

-- The block of a segment that holds a word.
CREATE UNIQUE INDEX words_by_place ON words (segment, word);

UPDATE tract_repository SET format = 5;
