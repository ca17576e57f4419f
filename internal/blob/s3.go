package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// S3 keeps blobs in a bucket of an S3-compatible store, below a folder of it.
type S3 struct {
	client         *minio.Client
	bucket, folder string // the folder ends in / or is empty
}

// S3Options says where a bucket is and who may use it.
type S3Options struct {
	Endpoint       string // https://host:port
	Region         string
	Bucket, Folder string
	Key, Secret    string
}

// ParseS3 reads s3://BUCKET/FOLDER?endpoint=https://HOST&region=REGION. Who may use it is said elsewhere: an address is
// printed now and then.
func ParseS3(address string) (o S3Options, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil {
		return o, errors.New("write s3://BUCKET/FOLDER?endpoint=https://HOST, without user or password")
	}
	q := u.Query()
	o = S3Options{Endpoint: q.Get("endpoint"), Region: q.Get("region"), Bucket: u.Host, Folder: strings.Trim(u.Path, "/")}
	q.Del("endpoint")
	q.Del("region")
	if len(q) > 0 {
		return o, fmt.Errorf("an s3 address has endpoint and region, and not %s", strings.Join(keys(q), ", "))
	}
	e, err := url.Parse(o.Endpoint)
	if err != nil || e.Host == "" || (e.Scheme != "https" && e.Scheme != "http") || e.Path != "" || e.User != nil {
		return o, fmt.Errorf("endpoint %q is not the address of a server; write https://HOST or https://HOST:PORT", o.Endpoint)
	}
	if o.Folder != "" {
		err = check(o.Folder)
	}
	return o, err
}

func keys(q url.Values) (all []string) {
	for k := range q {
		all = append(all, k)
	}
	return all
}

// OpenS3 uses a bucket. Nothing is sent before the first blob is asked for.
func OpenS3(o S3Options) (*S3, error) {
	e, err := url.Parse(o.Endpoint)
	if err != nil {
		return nil, err
	}
	client, err := minio.New(e.Host, &minio.Options{Creds: credentials.NewStaticV4(o.Key, o.Secret, ""), Secure: e.Scheme == "https", Region: o.Region, BucketLookup: minio.BucketLookupPath})
	if err != nil {
		return nil, err
	}
	folder := o.Folder
	if folder != "" {
		folder += "/"
	}
	return &S3{client: client, bucket: o.Bucket, folder: folder}, nil
}

// String implements Place.
func (s *S3) String() string { return "s3://" + s.bucket + "/" + s.folder }

// Put implements Place.
func (s *S3) Put(ctx context.Context, name string, data []byte) error {
	if err := check(name); err != nil {
		return err
	}
	_, err := s.client.PutObject(ctx, s.bucket, s.folder+name, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{ContentType: "application/octet-stream"})
	return s.told(name, err)
}

// Get implements Place.
func (s *S3) Get(ctx context.Context, name string) ([]byte, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	object, err := s.client.GetObject(ctx, s.bucket, s.folder+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, s.told(name, err)
	}
	defer object.Close()
	data, err := io.ReadAll(object)
	return data, s.told(name, err)
}

// Has implements Place.
func (s *S3) Has(ctx context.Context, name string) (int64, error) {
	if err := check(name); err != nil {
		return 0, err
	}
	info, err := s.client.StatObject(ctx, s.bucket, s.folder+name, minio.StatObjectOptions{})
	return info.Size, s.told(name, err)
}

// Delete implements Place.
func (s *S3) Delete(ctx context.Context, name string) error {
	if err := check(name); err != nil {
		return err
	}
	err := s.told(name, s.client.RemoveObject(ctx, s.bucket, s.folder+name, minio.RemoveObjectOptions{}))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// DeleteOld implements Place. Not every store deletes under a condition, so a moment remains between the look and the
// deletion.
func (s *S3) DeleteOld(ctx context.Context, name string, before time.Time) (bool, error) {
	if err := check(name); err != nil {
		return false, err
	}
	info, err := s.client.StatObject(ctx, s.bucket, s.folder+name, minio.StatObjectOptions{})
	if err = s.told(name, err); err != nil || !info.LastModified.Before(before) {
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
		return false, err
	}
	return true, s.Delete(ctx, name)
}

// Walk implements Place.
func (s *S3) Walk(ctx context.Context, folder string, visit func(Info) error) error {
	prefix, err := below(folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx) // the listing goes on by itself otherwise
	defer cancel()
	for o := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.folder + prefix, Recursive: true}) {
		if o.Err != nil {
			return s.told(folder, o.Err)
		}
		if err := visit(Info{Name: strings.TrimPrefix(o.Key, s.folder), Size: o.Size, At: o.LastModified}); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// told says what went wrong in our words. The library's errors name addresses and never secrets.
func (s *S3) told(name string, err error) error {
	if err == nil {
		return nil
	}
	switch minio.ToErrorResponse(err).Code {
	case "NoSuchKey":
		return fmt.Errorf("%s: %w", name, ErrNotFound)
	case "NoSuchBucket":
		return fmt.Errorf("there is no bucket %s", s.bucket)
	}
	return fmt.Errorf("%s%s: %w", s, name, err)
}
